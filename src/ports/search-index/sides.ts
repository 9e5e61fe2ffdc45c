// Derives `client_side` and `server_side`, which v2 clients use, from `environment` and the project types.

export type Side = 'required' | 'optional' | 'unsupported' | 'unknown'

/** Project types that run on one side only. */
const BY_PROJECT_TYPE: Readonly<Record<string, readonly [Side, Side]>> = {
  plugin: ['unsupported', 'required'],
  datapack: ['optional', 'required'],
  shader: ['required', 'unsupported'],
  resourcepack: ['required', 'unsupported'],
}

const BY_ENVIRONMENT: Readonly<Record<string, readonly [Side, Side]>> = {
  client_and_server: ['required', 'required'],
  client_only: ['required', 'unsupported'],
  client_only_server_optional: ['required', 'optional'],
  singleplayer_only: ['required', 'required'],
  server_only: ['unsupported', 'required'],
  dedicated_server_only: ['unsupported', 'required'],
  server_only_client_optional: ['optional', 'required'],
  client_or_server: ['optional', 'optional'],
  client_or_server_prefers_both: ['optional', 'optional'],
}

/**
 * Returns the sides of a project; `unknown` if they cannot be derived. The type decides if it is the only type of the
 * project and runs on one side only. Otherwise `environment` decides: that of the first listed or archived version whose
 * loaders have one.
 */
export function sidesOf(
  projectTypes: readonly string[],
  environment: string | null,
): Record<'client_side' | 'server_side', Side> {
  const only = projectTypes.length === 1 ? BY_PROJECT_TYPE[projectTypes[0] ?? ''] : undefined
  const [client_side, server_side] = only ?? BY_ENVIRONMENT[environment ?? ''] ?? ['unknown', 'unknown']
  return { client_side, server_side }
}
