//! Named numbers as columns of tables. One stands in the rows of the arms that it is made of, and in every row where it is
//! made of none.

use crate::number;
use crate::recording::ArmKey;
use crate::verdict::NamedNumber;

use super::Subject;

/// The number that belongs in the row of that arm.
pub(super) fn of<'a>(subject: Subject<'a>, name: &str, key: &ArmKey) -> Option<&'a NamedNumber> {
    let number = subject.judgement.named.get(name)?;
    let mut arms = number.arms.iter();
    let here = |arm: &ArmKey| arm.measure == key.measure && arm.arm == key.arm;
    (number.arms.is_empty() || arms.any(here)).then_some(number)
}

/// The cell of that row, with the interval where there is one.
pub(super) fn cell(subject: Subject<'_>, name: &str, key: &ArmKey) -> String {
    if !subject.judgement.named.contains_key(name) {
        return number::NOT_MEASURED.to_owned();
    }
    let Some(number) = of(subject, name, key) else { return String::new() };
    let value = number.shown();
    match number.shown_interval() {
        Some(ends) => format!("{value} ({})", ends.join(" to ")),
        None => value,
    }
}
