// Checks whether the services of SIGN_IN_PROVIDERS describe themselves.

import { type Finding, warning } from '#features/operation/doctor/finding.ts'
import { callbackUrl, createProviderClients } from '#features/people/accounts/providers/provider-client.ts'
import { reasonOf } from '#lib/errors.ts'
import { inOneLine } from '#lib/text/linear-text.ts'
import type { Config } from '#platform/config/config.ts'

const CHECKS = { state: 'check', nonce: 'check', verifier: 'check', isFresh: false }

/** Reads the discovery document of each OpenID Connect provider. The routes of GitHub and Discord are known. */
export async function checkProviders(config: Pick<Config, 'http' | 'outgoing' | 'accounts'>): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const { provider, start } of createProviderClients({ config, now: Date.now }).values()) {
    await start(CHECKS).catch((failure: Error) => {
      const reason = inOneLine(reasonOf(failure.cause ?? failure))
      const message = `Users cannot sign in with ${provider.name} (${provider.issuer}): ${reason}. Check SIGN_IN_PROVIDERS; the service must accept the callback URL ${callbackUrl(config, provider.id)}.`
      findings.push(warning('sign_in_provider', message))
    })
  }
  return findings
}
