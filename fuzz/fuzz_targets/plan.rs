//! Reads any bytes as a plan; what is read must survive being printed.
//!
//! The module is compiled by itself, which its being a leaf allows: the rest of the program would take many
//! minutes to build with the fuzzer's instruments.

#![no_main]
#![allow(dead_code, reason = "the target calls a part of the module")]

#[path = "../../src/plan/mod.rs"]
mod plan;

use libfuzzer_sys::fuzz_target;
use plan::{Plan, PlanDiff};

fuzz_target!(|data: &[u8]| {
    let Ok(input) = std::str::from_utf8(data) else { return };
    let _ = Plan::from_json(input);
    let _ = Plan::from_text(input);
    let Ok(plans) = Plan::paste_all(input) else { return };
    for plan in &plans {
        let json = serde_json::to_string(&[plan]).expect("a plan has JSON");
        assert_eq!(&Plan::from_json(&json).expect("its own JSON is read"), plan);
        let _ = (plan.tree(), plan.skeleton(), plan.to_text(), plan.q_error());
        assert_eq!(plan.shape(), plan.shape());
        for own in plan.exclusive() {
            assert!(own.milliseconds.is_none_or(|ms| ms >= 0.0) && own.blocks.is_none_or(|blocks| blocks >= 0.0));
        }
        assert!(PlanDiff::between(plan, plan).changes.is_empty());
    }
});
