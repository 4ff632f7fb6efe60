//! Shows each check of turnspec as a test: cargo test --manifest-path conformance/Cargo.toml
//! The variable TURNSPEC names the program, TURNSPEC_ARGS adds arguments: TURNSPEC_ARGS='--case text/*'.
#[allow(dead_code)]
#[path = "json.rs"]
mod json;

use std::process::{exit, Command};

fn main() {
    let report = std::env::temp_dir().join(format!("turnspec-{}.json", std::process::id()));
    let output = Command::new(std::env::var("TURNSPEC").unwrap_or("turnspec".to_string()))
        .args(["run", "--full", "--runtime", "{{runtime}}", "--subject", &format!("'{}'", env!("CARGO_BIN_EXE_plug"))])
        .args(["--known", concat!(env!("CARGO_MANIFEST_DIR"), "/known-failures.txt"), "--report", &format!("json={}", report.display())])
        .args(std::env::var("TURNSPEC_ARGS").unwrap_or_default().split_whitespace())
        .output()
        .expect("turnspec cannot be started: install it, or name it in the variable TURNSPEC");
    if output.status.code().unwrap_or(2) > 1 {
        eprintln!("{}", String::from_utf8_lossy(&output.stderr));
        exit(2);
    }
    let document = json::parse(&std::fs::read_to_string(&report).unwrap()).unwrap();
    let _ = std::fs::remove_file(&report);
    let (mut passed, mut failed, mut ignored) = (0, 0, 0);
    for check in document.get("checks").list() {
        let (id, mut verdict) = (check.get("id").text(), "ignored");
        for result in document.get("results").list().iter().filter(|r| r.get("check").text() == id) {
            let must = result.get("severity").text() == "MUST" && result.get("known") == &json::Value::Null;
            match result.get("verdict").text() {
                "fail" if must => {
                    verdict = "FAILED";
                    println!("{} [{}]", result.get("case").text(), result.get("tier").text());
                    for problem in result.get("problems").list() {
                        println!("  {}\n{}", problem.get("text").text(), problem.get("diff").text());
                    }
                }
                "pass" if verdict == "ignored" => verdict = "ok",
                _ => {}
            }
        }
        println!("test {id} ... {verdict}");
        *match verdict {
            "ok" => &mut passed,
            "FAILED" => &mut failed,
            _ => &mut ignored,
        } += 1;
    }
    let success = output.status.success();
    if !success && failed == 0 {
        println!("{}", String::from_utf8_lossy(&output.stdout)); // such as a stale known failure
    }
    println!("\ntest result: {}. {passed} passed; {failed} failed; {ignored} ignored", if success { "ok" } else { "FAILED" });
    exit(if success { 0 } else { 101 });
}
