// Translates the paths in texts that both API versions share: descriptions of fields, and errors.

const PATHS: readonly (readonly [v3: string, v2: string])[] = [
  ['value of mrpack_loaders: GET /v3/loader_field?loader_field=mrpack_loaders', 'loader: GET /v2/tag/loader'],
  ['/v3/loader_field?loader_field=game_versions', '/v2/tag/game_version'],
  ['/v3/link_platform', '/v2/tag/donation_platform'],
  ['/v3/report_type', '/v2/tag/report_type'],
  ['/v3/tag/', '/v2/tag/'],
  ['/v3/version`', '/v2/version`'],
]

/** Replaces the v3 paths in `text` by the v2 paths with the same content. Other paths exist only in the v3 API. */
export function toV2Paths(text: string): string {
  return PATHS.reduce((result, [v3, v2]) => result.replaceAll(v3, v2), text)
}
