/** `Content-Disposition` by RFC 6266: the name as it is for those who read `filename*`, and without surprises for the others. */
export function attachment(filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(filename).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
