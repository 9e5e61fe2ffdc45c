// Texts that the command reads. Editors put a byte order mark at the start of some files.

/** Returns the text without a byte order mark at its start. */
export function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}
