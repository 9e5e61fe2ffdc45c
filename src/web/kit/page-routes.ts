// The paths and methods of all pages, for requests that no route handles.
import type { FastifyRequest } from 'fastify'
import { ApiError } from '#lib/errors.ts'
import { withoutEnd } from '#lib/text/linear-text.ts'
import { prefersHtml } from '#platform/http/preferred-type.ts'

type PageRoute = { pattern: RegExp; method: string; onlyHtml: boolean }
type Head = Pick<FastifyRequest, 'method' | 'headers'> & { raw: { url?: string | undefined } }

export class PageRoutes {
  readonly #routes: PageRoute[] = []

  /** Adds a route. `onlyHtml`: the page handles only requests that prefer HTML, because the API has the same path. */
  add(method: string, path: string, { onlyHtml }: { onlyHtml: boolean }): void {
    // A path for all other requests is not a page.
    if (path.includes('*')) return
    const source = path.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+')
    this.#routes.push({ pattern: new RegExp(`^${source}$`), method, onlyHtml })
  }

  /** Returns the URL without the slashes at the end of its path, if that is the URL of a page. */
  withoutSlash({ method, headers, raw: { url = '' } }: Head): string | undefined {
    const [written = ''] = url.split('?', 1)
    const path = withoutEnd(written, '/')
    if (path === '' || path === written || (method !== 'GET' && method !== 'HEAD')) return undefined
    return this.#methodsOf(path, headers.accept).has('GET') ? path + url.slice(written.length) : undefined
  }

  /** Returns the error for a page that does not accept the method of the request; undefined if the path is not a page. */
  methodError({ method, headers, raw: { url = '' } }: Head): ApiError | undefined {
    const methods = this.#methodsOf(url.split('?', 1)[0] ?? '', headers.accept)
    if (methods.size === 0 || methods.has(method)) return undefined
    const allow = [...methods].flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : each)).join(', ')
    const description = `This page does not accept the method ${method}. Use one of: ${allow}`
    return new ApiError('method_not_allowed', description, { headers: { allow } })
  }

  #methodsOf(path: string, accept: string | undefined): Set<string> {
    const isHtml = prefersHtml(accept)
    const matching = this.#routes.filter(({ pattern, onlyHtml }) => (isHtml || !onlyHtml) && pattern.test(path))
    return new Set(matching.map(({ method }) => method))
  }
}
