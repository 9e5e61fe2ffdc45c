// Derives `client_side` and `server_side`, which v2 clients use, from `environment` and the project type.

/** Project types that run on one side only. */
const BY_PROJECT_TYPE: Readonly<Record<string, readonly [string, string]>> = {
  plugin: ['unsupported', 'required'],
  datapack: ['optional', 'required'],
  shader: ['required', 'unsupported'],
  resourcepack: ['required', 'unsupported'],
}

const BY_ENVIRONMENT: Readonly<Record<string, readonly [string, string]>> = {
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

/** Returns the sides of a version; `unknown` if they cannot be derived. */
export function sidesOf(projectTypes: readonly string[], environment: string | undefined) {
  const only = projectTypes.length === 1 ? BY_PROJECT_TYPE[projectTypes[0] ?? ''] : undefined
  const [client_side, server_side] = only ?? BY_ENVIRONMENT[environment ?? ''] ?? ['unknown', 'unknown']
  return { client_side, server_side }
}
