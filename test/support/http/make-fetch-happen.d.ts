// The subset of make-fetch-happen that the tests use. The package has no types.
declare module 'make-fetch-happen' {
  type Options = { cachePath: string; cache: 'default' | 'no-cache'; headers: Record<string, string>; retry: false }
  const cachingFetch: (url: string, options: Options) => Promise<Response>
  export = cachingFetch
}
