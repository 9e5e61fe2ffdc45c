// The operations of both API descriptions with their routes.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RouteEntry } from '#platform/http/route-config.ts'
import { ADMIN_KEY, type TestApp } from '#test/support/app/test-app.ts'
import { type Json, operationsOf } from '#test/support/http/openapi-rules.ts'

export type DescribedOperation = { document: Json; route: RouteEntry; path: string; operation: Json }

const GENERATED = join(import.meta.dirname, '../../../docs/generated')

/** Returns every operation except the stream, which has no end. */
export function describedOperations(t: TestApp): DescribedOperation[] {
  const described = t.app.routeTable().filter(({ hidden }) => !hidden)
  const routes = new Map(described.map((route) => [`${route.method} ${route.url}`, route]))
  return ['openapi.json', 'openapi-v2.json'].flatMap((name) => {
    const document = JSON.parse(readFileSync(join(GENERATED, name), 'utf8')) as Json
    return operationsOf(document).flatMap(({ path, method, operation }) => {
      if (operation['operationId'] === 'streamChanges') return []
      const url = path.replace(/\{([^}]+)\}/g, ':$1')
      const route = routes.get(`${method.toUpperCase()} ${url}`)
      if (route === undefined) throw new Error(`${method} ${path} is described and no route has it`)
      return [{ document, path, operation, route }]
    })
  })
}

/** Read-only mode would reject all later requests. */
export async function resetSettings(t: TestApp): Promise<void> {
  const headers = { 'x-admin-key': ADMIN_KEY }
  const { statusCode } = await t.anyone.patch('/_internal/admin/settings', { read_only: false }, { headers })
  if (statusCode >= 300) throw new Error(`Read-only mode cannot be switched off: ${statusCode}`)
}
