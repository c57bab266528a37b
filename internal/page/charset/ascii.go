package charset

const asciiSpace = "\t\n\f\r " // ASCII whitespace (Infra standard section 4.6)
