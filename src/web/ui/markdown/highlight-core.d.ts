// Types of the parts of highlight.js that Depot uses.
type Highlighter = {
  registerLanguage(name: string, language: object): void
  /** Undefined if no registered language has this name or alias. */
  getLanguage(name: string): object | undefined
  configure(options: { classPrefix: string }): void
  highlight(code: string, options: { language: string; ignoreIllegals: boolean }): { value: string }
}
declare const highlighter: Highlighter

export { highlighter as default }
