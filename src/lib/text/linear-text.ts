// Searches in texts whose time grows with the length of the text, where a regular expression would need quadratic time.

/** Returns the text without the repetitions of a character at its end. */
export function withoutEnd(text: string, character: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === character) end -= 1
  return text.slice(0, end)
}

/** Returns the text in one line: line breaks and the white space around them become a space. */
export function inOneLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '').join(' ')
}

/** Returns a function that compares whole texts with a pattern, in which `*` stands for any characters. */
export function wildcardTest(pattern: string): (text: string) => boolean {
  const [first = '', ...others] = pattern.split('*')
  const last = others.pop()
  if (last === undefined) return (text) => text === first
  return (text) => {
    const end = text.length - last.length
    if (!text.startsWith(first) || !text.endsWith(last)) return false
    let position = first.length
    for (const part of others) {
      const found = text.indexOf(part, position)
      if (found === -1) return false
      position = found + part.length
    }
    return position <= end
  }
}
