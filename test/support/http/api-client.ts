// The published client for tests of flows: with headers that every request of a test has.
import { createDepot, type Depot } from '#client/index.ts'

type ClientOptions = { token?: string | undefined; headers?: Readonly<Record<string, string>> }

export function apiClient(url: string, { token, headers = {} }: ClientOptions = {}): Depot {
  return createDepot({
    url,
    userAgent: 'depot-tests/1.0',
    ...(token === undefined ? {} : { token }),
    fetch: (input, init) => {
      const all = new Headers(init?.headers)
      for (const [name, value] of Object.entries(headers)) all.set(name, value)
      return fetch(input, { ...init, headers: all })
    },
  })
}
