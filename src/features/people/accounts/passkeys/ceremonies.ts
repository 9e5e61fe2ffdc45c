// The two ceremonies of WebAuthn Level 3: an authenticator creates a passkey, and signs a challenge with it. The challenge is
// the secret of a flow, which works once.
import { isIP } from 'node:net'
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server'
import type { AccountRow } from '#features/people/users/queries.ts'
import { ApiError } from '#lib/errors.ts'
import type { Config } from '#platform/config/config.ts'
import type { AccountDeps } from '../account-deps.ts'
import { type FlowKind, findFlow, insertFlow, takeFlow } from '../mail/flows.ts'
import { invalidCredentials } from '../sign-in/sign-in-guard.ts'
import { findPasskeyByCredential, listPasskeys, type PasskeyRow } from './queries.ts'
import type { PasskeyAssertion, PasskeyCreation } from './requests.ts'
import type { PasskeyCreationOptions, PasskeyRequest } from './views.ts'

const EXPIRED = 'The request for a passkey was used or has expired. Try again.'
const UNKNOWN = 'This site does not know the passkey'
const REFUSED = 'The passkey was not accepted'

/** Time for which a browser waits for the user (WebAuthn Level 3, 5.4: 5 to 10 minutes). */
const TIMEOUT_MS = 5 * 60_000
/** ES256, EdDSA and RS256: one of them works with every authenticator. */
const ALGORITHMS = [-7, -8, -257]

type CeremonyDeps = Pick<AccountDeps, 'db' | 'config' | 'now'>

// The library takes 0.2 seconds to load, and many instances never need it.
const library = () => import('@simplewebauthn/server')

/** Returns the relying party: the host and the origin of the site. */
function relyingParty({ http: { baseUrl } }: Config): { id: string; origin: string } {
  const { hostname: id, origin } = new URL(baseUrl)
  return { id, origin }
}

/** Whether browsers create passkeys for the site: the host must be a name. */
export function hasPasskeys({ http: { baseUrl } }: Pick<Config, 'http'>): boolean {
  return isIP(new URL(baseUrl).hostname.replace(/^\[|\]$/g, '')) === 0
}

/** Returns the options with which a browser asks for a passkey of any account. */
export async function requestOptions({ db, config, now }: CeremonyDeps): Promise<PasskeyRequest> {
  const secret = await insertFlow(db, { kind: 'use_passkey', accountId: null, now: now() })
  return {
    challenge: toChallenge(secret),
    rpId: relyingParty(config).id,
    timeout: TIMEOUT_MS,
    userVerification: 'required',
  }
}

/** Returns the options with which a browser creates a passkey for an account. */
export async function creationOptions(
  { db, config, now }: CeremonyDeps,
  { account, siteName }: { account: AccountRow; siteName: string },
): Promise<PasskeyCreationOptions> {
  const { generateRegistrationOptions } = await library()
  const known = await listPasskeys(db, account.id)
  const options = await generateRegistrationOptions({
    rpName: siteName,
    rpID: relyingParty(config).id,
    userName: account.username,
    userDisplayName: account.username,
    userID: new Uint8Array(Buffer.from(account.id)),
    challenge: await insertFlow(db, { kind: 'add_passkey', accountId: account.id, now: now() }),
    timeout: TIMEOUT_MS,
    excludeCredentials: known.map(({ credential_id: id, transports }) => ({
      id: id.toString('base64url'),
      transports,
    })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: ALGORITHMS,
  })
  return toCreationOptions(options)
}

function toCreationOptions(options: PublicKeyCredentialCreationOptionsJSON): PasskeyCreationOptions {
  const { challenge, rp, user, pubKeyCredParams, excludeCredentials = [] } = options
  const selection = { residentKey: 'required', requireResidentKey: true, userVerification: 'required' } as const
  return {
    challenge,
    rp: { id: rp.id ?? '', name: rp.name },
    user,
    pubKeyCredParams,
    timeout: TIMEOUT_MS,
    attestation: 'none',
    excludeCredentials: excludeCredentials.map(({ id, transports = [] }) => ({ id, type: 'public-key', transports })),
    authenticatorSelection: selection,
  }
}

type CreatedPasskey = Pick<PasskeyRow, 'credential_id' | 'public_key' | 'counter' | 'transports' | 'is_synced'>

/** Verifies a new passkey of an account. @throws ApiError `invalid_credentials` */
export async function verifyCreation(
  deps: CeremonyDeps,
  { accountId, credential }: { accountId: string; credential: PasskeyCreation },
): Promise<CreatedPasskey> {
  const expectedChallenge = await takeChallenge(deps, credential, { kind: 'add_passkey', accountId })
  const { id: expectedRPID, origin: expectedOrigin } = relyingParty(deps.config)
  const { verifyRegistrationResponse } = await library()
  const { verified, registrationInfo: info } = await verifyRegistrationResponse({
    response: { ...credential, clientExtensionResults: {} } as Parameters<
      typeof verifyRegistrationResponse
    >[0]['response'],
    expectedChallenge,
    expectedOrigin,
    expectedRPID,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch((cause: unknown) => {
    throw invalidCredentials(REFUSED, cause)
  })
  if (!verified) throw invalidCredentials(REFUSED)
  return {
    credential_id: Buffer.from(info.credential.id, 'base64url'),
    public_key: Buffer.from(info.credential.publicKey),
    counter: info.credential.counter,
    transports: credential.response.transports ?? [],
    is_synced: info.credentialBackedUp,
  }
}

/** The signature of a known passkey is wrong. */
export class RefusedPasskey extends ApiError {
  readonly accountId: string
  constructor(accountId: string, cause?: unknown) {
    super('invalid_credentials', REFUSED, { cause })
    this.accountId = accountId
  }
}

/** A passkey that has signed a challenge, with the values to store. */
export type UsedPasskey = { passkey: PasskeyRow; counter: number; isSynced: boolean }

/**
 * Verifies the signature of a passkey. With `accountId`, the passkey must belong to this account. Of concurrent uses of a challenge,
 * only one succeeds. A counter that did not rise means that somebody copied the authenticator.
 * @throws ApiError `invalid_credentials`
 */
export async function verifyAssertion(
  deps: CeremonyDeps,
  credential: PasskeyAssertion,
  accountId?: string,
): Promise<UsedPasskey> {
  const passkey = await findPasskeyByCredential(deps.db, Buffer.from(credential.id, 'base64url'))
  if (passkey === undefined) throw invalidCredentials(UNKNOWN)
  if (accountId !== undefined && passkey.account_id !== accountId)
    throw invalidCredentials('The passkey belongs to another account')
  const expectedChallenge = await takeChallenge(deps, credential, { kind: 'use_passkey' })
  const { id: expectedRPID, origin: expectedOrigin } = relyingParty(deps.config)
  const { verifyAuthenticationResponse } = await library()
  const { verified, authenticationInfo: info } = await verifyAuthenticationResponse({
    response: { ...credential, clientExtensionResults: {} },
    expectedChallenge,
    expectedOrigin,
    expectedRPID,
    requireUserVerification: true,
    credential: { id: credential.id, publicKey: new Uint8Array(passkey.public_key), counter: passkey.counter },
  }).catch((cause: unknown) => {
    throw new RefusedPasskey(passkey.account_id, cause)
  })
  if (!verified) throw new RefusedPasskey(passkey.account_id)
  return { passkey, counter: info.newCounter, isSynced: info.credentialBackedUp }
}

/** Uses the challenge of a response, and returns it. @throws ApiError `invalid_credentials` */
async function takeChallenge(
  { db, now }: CeremonyDeps,
  { response }: { response: { clientDataJSON: string } },
  of: { kind: FlowKind; accountId?: string },
): Promise<string> {
  const challenge = challengeOf(response.clientDataJSON)
  const secret = { secret: Buffer.from(challenge, 'base64url').toString(), now: now() }
  const { accountId } = of
  // Another account must not use up the challenge.
  const isOwn = accountId === undefined || (await findFlow(db, of.kind, secret))?.account_id === accountId
  if (!isOwn || (await takeFlow(db, of.kind, secret)) === undefined) throw invalidCredentials(EXPIRED)
  return challenge
}

/** Returns the challenge that the browser signed, or an empty text if the data is invalid. The library checks it again. */
function challengeOf(clientData: string): string {
  try {
    const { challenge } = JSON.parse(Buffer.from(clientData, 'base64url').toString())
    return typeof challenge === 'string' ? challenge.slice(0, 256) : ''
  } catch {
    return ''
  }
}

const toChallenge = (secret: string): string => Buffer.from(secret).toString('base64url')
