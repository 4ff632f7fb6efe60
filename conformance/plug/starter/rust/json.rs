//! JSON values: enough for the protocol. If your adapter has serde_json, use that.
use std::fmt;

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    /// As it is written.
    Number(String),
    Text(String),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
}

impl Value {
    /// Returns the member of an object; Null if there is none.
    pub fn get(&self, name: &str) -> &Value {
        match self {
            Value::Object(members) => members.iter().find(|(k, _)| k == name).map_or(&Value::Null, |(_, v)| v),
            _ => &Value::Null,
        }
    }

    /// Returns the text; "" if the value is none.
    pub fn text(&self) -> &str {
        match self {
            Value::Text(s) => s,
            _ => "",
        }
    }

    pub fn list(&self) -> &[Value] {
        match self {
            Value::List(l) => l,
            _ => &[],
        }
    }
}

impl From<&str> for Value {
    fn from(s: &str) -> Value {
        Value::Text(s.to_string())
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Value {
        Value::Bool(b)
    }
}

impl From<i64> for Value {
    fn from(n: i64) -> Value {
        Value::Number(n.to_string())
    }
}

impl From<Vec<Value>> for Value {
    fn from(l: Vec<Value>) -> Value {
        Value::List(l)
    }
}

/// Returns an object with the members.
pub fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(members.into_iter().map(|(k, v)| (k.to_string(), v)).collect())
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Number(n) => f.write_str(n),
            Value::Text(s) => write_text(f, s),
            Value::List(l) => {
                for (i, v) in l.iter().enumerate() {
                    write!(f, "{}{v}", if i == 0 { "[" } else { "," })?;
                }
                f.write_str(if l.is_empty() { "[]" } else { "]" })
            }
            Value::Object(members) => {
                f.write_str("{")?;
                for (i, (k, v)) in members.iter().enumerate() {
                    f.write_str(if i == 0 { "" } else { "," })?;
                    write_text(f, k)?;
                    write!(f, ":{v}")?;
                }
                f.write_str("}")
            }
        }
    }
}

fn write_text(f: &mut fmt::Formatter, s: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in s.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            c if (c as u32) < 0x20 => write!(f, "\\u{:04x}", c as u32)?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

/// Parses one value.
pub fn parse(text: &str) -> Result<Value, String> {
    let mut p = Parser { b: text.as_bytes(), at: 0 };
    let v = p.value()?;
    p.space();
    if p.at < p.b.len() {
        return Err(p.fail("more text after the value"));
    }
    Ok(v)
}

struct Parser<'a> {
    b: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn fail(&self, what: &str) -> String {
        format!("byte {}: {what}", self.at)
    }

    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
    }

    fn peek(&self) -> u8 {
        self.b.get(self.at).copied().unwrap_or(0)
    }

    fn take(&mut self, c: u8) -> bool {
        self.space();
        let found = self.peek() == c && self.at < self.b.len();
        self.at += found as usize;
        found
    }

    fn word(&mut self, word: &str, v: Value) -> Result<Value, String> {
        if !self.b[self.at..].starts_with(word.as_bytes()) {
            return Err(self.fail("not a value"));
        }
        self.at += word.len();
        Ok(v)
    }

    fn value(&mut self) -> Result<Value, String> {
        self.space();
        match self.peek() {
            b'{' => self.object(),
            b'[' => self.list(),
            b'"' => Ok(Value::Text(self.text()?)),
            b't' => self.word("true", Value::Bool(true)),
            b'f' => self.word("false", Value::Bool(false)),
            b'n' => self.word("null", Value::Null),
            b'-' | b'0'..=b'9' => {
                let begin = self.at;
                while matches!(self.peek(), b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9') {
                    self.at += 1;
                }
                Ok(Value::Number(String::from_utf8_lossy(&self.b[begin..self.at]).into_owned()))
            }
            _ => Err(self.fail("not a value")),
        }
    }

    fn object(&mut self) -> Result<Value, String> {
        let mut members = vec![];
        self.at += 1;
        while !self.take(b'}') {
            if !members.is_empty() && !self.take(b',') {
                return Err(self.fail("want , or }"));
            }
            self.space();
            let name = self.text()?;
            if !self.take(b':') {
                return Err(self.fail("want :"));
            }
            members.push((name, self.value()?));
        }
        Ok(Value::Object(members))
    }

    fn list(&mut self) -> Result<Value, String> {
        let mut items = vec![];
        self.at += 1;
        while !self.take(b']') {
            if !items.is_empty() && !self.take(b',') {
                return Err(self.fail("want , or ]"));
            }
            items.push(self.value()?);
        }
        Ok(Value::List(items))
    }

    fn text(&mut self) -> Result<String, String> {
        if self.peek() != b'"' {
            return Err(self.fail("want a string"));
        }
        self.at += 1;
        let mut out: Vec<u8> = vec![];
        let mut units: Vec<u16> = vec![]; // of \u escapes in a row
        loop {
            let c = self.peek();
            if c == b'\\' && self.b.get(self.at + 1) == Some(&b'u') {
                let hex = self.b.get(self.at + 2..self.at + 6).ok_or_else(|| self.fail("a short escape"))?;
                let hex = std::str::from_utf8(hex).map_err(|_| self.fail("a bad escape"))?;
                units.push(u16::from_str_radix(hex, 16).map_err(|_| self.fail("a bad escape"))?);
                self.at += 6;
                continue;
            }
            out.extend(String::from_utf16_lossy(&units).bytes());
            units.clear();
            if self.at >= self.b.len() {
                return Err(self.fail("an open string"));
            }
            self.at += 1;
            match c {
                b'"' => return Ok(String::from_utf8_lossy(&out).into_owned()),
                b'\\' => {
                    out.push(match self.peek() {
                        b'n' => b'\n',
                        b't' => b'\t',
                        b'r' => b'\r',
                        b'b' => 8,
                        b'f' => 12,
                        c @ (b'"' | b'\\' | b'/') => c,
                        _ => return Err(self.fail("a bad escape")),
                    });
                    self.at += 1;
                }
                c => out.push(c),
            }
        }
    }
}
