/** Returns the URL of an instance without slashes at its end. */
export function toBaseUrl(url: string): string {
  let end = url.length
  while (url[end - 1] === '/') end -= 1
  return url.slice(0, end)
}
