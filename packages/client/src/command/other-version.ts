// The note that the instance has another version of this command.
import { toBaseUrl } from '../base-url.ts'
import { VERSION } from './help.ts'

/**
 * Compares the versions, because npx reuses the command that it has installed from a URL, also after the instance was
 * upgraded. Compares nothing if the instance does not state a version.
 */
export async function noteOtherVersion(url: string, note: (text: string) => void, signal: AbortSignal): Promise<void> {
  try {
    const init = { signal, redirect: 'manual', headers: { 'user-agent': `depot-publish/${VERSION}` } } as const
    const response = await fetch(`${toBaseUrl(url)}/.well-known/depot-publishing`, init)
    const { client } = (await response.json()) as { client?: { version?: unknown; url?: unknown } }
    if (typeof client?.version !== 'string' || client.version === VERSION) return
    note(
      `This is depot-publish ${VERSION}, and the instance has ${client.version}. To use it, run npx -p '${client.url}' depot-publish`,
    )
  } catch {
    // The command reports an instance that does not respond.
  }
}
