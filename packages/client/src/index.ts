// @depot/client: a typed client for the HTTP API of Depot.
export { createDepot, type Depot, type DepotOptions, type TokenSource } from './client.ts'
export { DepotError, type ErrorCode, type Problem } from './errors.ts'
export { Form } from './form.ts'
export type { components, operations, paths } from './generated/api.ts'
export type { Args, Data, DryRun, PathOf, Schemas } from './operations.ts'
export type { Item, ListPath, ManyPath } from './pages.ts'
export type { RetryOptions } from './retry.ts'
