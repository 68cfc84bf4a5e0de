"""Names of element types: in a launch spec (numpy's and torch's), in Triton's signatures, and as
attributes of triton.language."""

TYPES = [
    ("bool", "i1", "int1"),
    ("int8", "i8", "int8"),
    ("int16", "i16", "int16"),
    ("int32", "i32", "int32"),
    ("int64", "i64", "int64"),
    ("uint8", "u8", "uint8"),
    ("uint16", "u16", "uint16"),
    ("uint32", "u32", "uint32"),
    ("uint64", "u64", "uint64"),
    ("float8_e4m3fn", "fp8e4nv", "float8e4nv"),
    ("float8_e4m3fnuz", "fp8e4b8", "float8e4b8"),
    ("float8_e5m2", "fp8e5", "float8e5"),
    ("float8_e5m2fnuz", "fp8e5b16", "float8e5b16"),
    ("float16", "fp16", "float16"),
    ("bfloat16", "bf16", "bfloat16"),
    ("float32", "fp32", "float32"),
    ("float64", "fp64", "float64"),
]

SPEC_NAME = {short: spec for spec, short, _ in TYPES}
LANGUAGE_NAME = {short: attribute for _, short, attribute in TYPES}
