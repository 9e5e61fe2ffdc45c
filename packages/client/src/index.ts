// depot-hosting-client: a typed client for the HTTP API of Depot.
export type { AdvisoriesByHash } from './advisories.ts'
export type { Change, ChangesOptions } from './changes.ts'
export { createDepot, type Depot, type DepotOptions, type TokenSource } from './client.ts'
export { DepotError, type ErrorCode, type Problem } from './errors.ts'
export { Form } from './form.ts'
export type { components, operations, paths } from './generated/api.ts'
export type { Args, Data, DryRun, PathOf, Schemas } from './operations.ts'
export type { Item, ListPath, ManyPath } from './pages.ts'
export type { NewVersion, PublishOptions } from './publish.ts'
export type { Resolution, ResolveRequest } from './resolve.ts'
export type { RetryOptions } from './retry.ts'
export type { ResumeStore, Upload, UploadOptions, UploadProgress } from './upload.ts'
export {
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
  type WebhookMessage,
  WebhookVerificationError,
} from './webhooks.ts'
