// A pseudo-language for layout tests: English with each word reversed for display, from right to left. Text that a page
// shows in plain English is not a message, and content on the wrong side has a style rule with a fixed side.
const OVERRIDE = '\u202e'
const END = '\u202c'

/** Returns the text with each word between the characters that make browsers show it from right to left. */
export function mirrorText(text: string): string {
  return text.replace(/\S+/g, `${OVERRIDE}$&${END}`)
}
