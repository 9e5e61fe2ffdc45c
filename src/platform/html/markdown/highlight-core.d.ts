// What we use of the highlighter.
type Highlighter = {
  registerLanguage(name: string, language: object): void
  /** Undefined for a language that is not registered, under this name or as another name of one. */
  getLanguage(name: string): object | undefined
  configure(options: { classPrefix: string }): void
  highlight(code: string, options: { language: string; ignoreIllegals: boolean }): { value: string }
}
declare const highlighter: Highlighter

export { highlighter as default }
