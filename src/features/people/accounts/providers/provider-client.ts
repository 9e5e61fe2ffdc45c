// Signs users in at other services: OpenID Connect by discovery, and the OAuth routes of GitHub and Discord. State, nonce and PKCE
// protect each sign-in (RFC 9700).
import type * as OpenId from 'openid-client'
import { ApiError } from '#lib/errors.ts'
import { HOUR_MS } from '#lib/time.ts'
import type { Config } from '#platform/config/config.ts'
import type { SignInProvider } from '#platform/config/sign-in-providers.ts'
import { callAddress } from '#platform/outgoing/call-address.ts'
import { invalidCredentials } from '../sign-in/sign-in-guard.ts'

/** A user at a provider. `email`: only if the provider has verified it. */
export type ProviderIdentity = { subject: string; name: string; email: string | null }

/** Values of a sign-in that the callback checks. */
export type ProviderChecks = { nonce: string; verifier: string }

export type ProviderClient = {
  provider: SignInProvider
  /** Returns the page of the provider. `isFresh`: the user must enter their password there. @throws ApiError 424 */
  start(of: { state: string; isFresh: boolean } & ProviderChecks): Promise<string>
  /** Returns the user after the provider has sent them back to `url`. @throws ApiError `invalid_credentials`, 424 */
  finish(of: { url: string; state: string } & ProviderChecks): Promise<ProviderIdentity>
}

export type ProviderClients = ReadonlyMap<string, ProviderClient>

/** Path of the page to which a provider sends users back; `callbackUrl` has the URL that operators register. */
export const CALLBACK_PATH = '/account/sign-in/callback'

/** Returns the URL that the operator registers at the provider. */
export const callbackUrl = ({ http }: Pick<Config, 'http'>, id: string): string =>
  `${http.baseUrl}${CALLBACK_PATH}/${id}`

const library = (): Promise<typeof OpenId> => import('openid-client')

/** Returns new values for a sign-in. */
export async function newChecks(): Promise<ProviderChecks> {
  const { randomNonce, randomPKCECodeVerifier } = await library()
  return { nonce: randomNonce(), verifier: randomPKCECodeVerifier() }
}

/** Creates a client of every configured provider, by ID. */
export function createProviderClients({
  config,
  now,
}: {
  config: Pick<Config, 'http' | 'outgoing' | 'accounts'>
  now: () => number
}): ProviderClients {
  const clients = config.accounts.signInProviders.map((provider): [string, ProviderClient] => {
    const configure = configurationOf(provider, { config, now })
    const redirect_uri = callbackUrl(config, provider.id)
    return [
      provider.id,
      {
        provider,
        start: (of) =>
          explained(provider, async () => {
            const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await library()
            const url = buildAuthorizationUrl(await configure(), {
              redirect_uri,
              scope: KINDS[provider.kind].scope,
              state: of.state,
              code_challenge: await calculatePKCECodeChallenge(of.verifier),
              code_challenge_method: 'S256',
              ...(provider.kind === 'oidc' && { nonce: of.nonce, ...(of.isFresh && { prompt: 'login' }) }),
            })
            return url.href
          }),
        finish: ({ url, state, nonce, verifier }) =>
          explained(provider, async () => {
            const { authorizationCodeGrant } = await library()
            const configuration = await configure()
            const isOidc = provider.kind === 'oidc'
            const tokens = await authorizationCodeGrant(configuration, new URL(url), {
              expectedState: state,
              pkceCodeVerifier: verifier,
              ...(isOidc && { expectedNonce: nonce, idTokenExpected: true }),
            })
            return KINDS[provider.kind].identify(configuration, tokens, readerOf(config, tokens.access_token), provider)
          }),
      },
    ]
  })
  return new Map(clients)
}

type Tokens = Awaited<ReturnType<typeof OpenId.authorizationCodeGrant>>
type Read = (url: string) => Promise<Record<string, unknown> | unknown[]>
type Kind = {
  scope: string
  identify(
    configuration: OpenId.Configuration,
    tokens: Tokens,
    read: Read,
    of: SignInProvider,
  ): Promise<ProviderIdentity>
}

const KINDS: Readonly<Record<SignInProvider['kind'], Kind>> = {
  oidc: {
    scope: 'openid profile email',
    async identify(configuration, tokens) {
      const claims = tokens.claims()
      if (claims === undefined) throw new Error('The response has no ID token')
      const hasInfo = configuration.serverMetadata().userinfo_endpoint !== undefined
      const { fetchUserInfo } = await library()
      const more =
        claims['email'] === undefined && hasInfo
          ? await fetchUserInfo(configuration, tokens.access_token, claims.sub)
          : claims
      const { email, email_verified: isVerified, preferred_username: username, name } = more as Record<string, unknown>
      return toIdentity(claims.sub, username ?? name, isVerified === true ? email : null)
    },
  },
  // https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
  github: {
    scope: 'read:user user:email',
    async identify(_, __, read, { issuer }) {
      const api = issuer === 'https://github.com' ? 'https://api.github.com' : `${issuer}/api/v3`
      const user = (await read(`${api}/user`)) as Record<string, unknown>
      const emails = await read(`${api}/user/emails`)
      const list = (Array.isArray(emails) ? emails : []) as Record<string, unknown>[]
      const primary = list.find(({ primary: isPrimary, verified }) => isPrimary === true && verified === true)
      return toIdentity(user['id'], user['login'], primary?.['email'])
    },
  },
  // https://discord.com/developers/docs/topics/oauth2
  discord: {
    scope: 'identify email',
    async identify(_, __, read, { issuer }) {
      const user = (await read(`${issuer}/api/users/@me`)) as Record<string, unknown>
      return toIdentity(user['id'], user['username'], user['verified'] === true ? user['email'] : null)
    },
  },
}

function toIdentity(id: unknown, name: unknown, email: unknown): ProviderIdentity {
  const subject = typeof id === 'number' ? String(id) : id
  if (typeof subject !== 'string' || subject === '' || subject.length > 255)
    throw new Error('The response has no ID of the user')
  return {
    subject,
    name: typeof name === 'string' ? name.slice(0, 256) : subject,
    email: typeof email === 'string' && email.length <= 254 ? email : null,
  }
}

const OAUTH_PATHS = {
  github: { authorize: '/login/oauth/authorize', token: '/login/oauth/access_token' },
  discord: { authorize: '/oauth2/authorize', token: '/api/oauth2/token' },
} as const

/** Returns a function that reads the routes of a provider, and stores them for an hour. */
function configurationOf(
  { kind, issuer, clientId, clientSecret }: SignInProvider,
  { config, now }: { config: Pick<Config, 'outgoing'>; now: () => number },
): () => Promise<OpenId.Configuration> {
  let stored: { at: number; value: Promise<OpenId.Configuration> } | undefined
  const load = async (): Promise<OpenId.Configuration> => {
    const client = await library()
    const execute = issuer.startsWith('http:') ? [client.allowInsecureRequests] : []
    const [own, secret] = [fetchFor(config), clientSecret.reveal()]
    if (kind === 'oidc') {
      const options = { [client.customFetch]: own, execute }
      return client.discovery(new URL(issuer), clientId, undefined, client.ClientSecretBasic(secret), options)
    }
    const { authorize, token } = OAUTH_PATHS[kind]
    const server = { issuer, authorization_endpoint: `${issuer}${authorize}`, token_endpoint: `${issuer}${token}` }
    const configuration = new client.Configuration(server, clientId, undefined, client.ClientSecretPost(secret))
    configuration[client.customFetch] = own
    for (const each of execute) each(configuration)
    return configuration
  }
  return async () => {
    if (stored !== undefined && now() - stored.at < HOUR_MS) return stored.value
    const value = load()
    stored = { at: now(), value }
    value.catch(() => {
      stored = undefined
    })
    return value
  }
}

/** The operator chose the provider, so that its URLs can be private. Time and size are limited, and redirects are not followed. */
const rulesOf = ({ outgoing }: Pick<Config, 'outgoing'>) => ({ ...outgoing, isOn: true, isTrusted: true })

function fetchFor(config: Pick<Config, 'outgoing'>): OpenId.CustomFetch {
  return async (url, { method, headers, body }) => {
    const answer = await callAddress(rulesOf(config), {
      url,
      method,
      headers: { ...headers },
      ...(body == null ? {} : { body: String(body) }),
    })
    if (answer.truncated) throw new Error('The response is too large')
    // GitHub reports errors of the token route with the status 200.
    const isError = method === 'POST' && answer.status === 200 && /^\s*\{\s*"error"\s*:/.test(answer.body.toString())
    const type = answer.headers['content-type'] ?? 'application/octet-stream'
    return new Response(new Uint8Array(answer.body), {
      status: isError ? 400 : answer.status,
      headers: { 'content-type': type },
    })
  }
}

/** Returns a function that reads JSON from the API of a provider with an access token. */
function readerOf(config: Pick<Config, 'outgoing'>, token: string): Read {
  return async (url) => {
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json' }
    const { status, body } = await callAddress(rulesOf(config), { url, headers })
    if (status !== 200) throw new Error(`The provider answered with the status ${status}`)
    return JSON.parse(body.toString())
  }
}

/** Converts errors of a provider into sentences for the page. */
async function explained<T>({ name }: SignInProvider, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const { AuthorizationResponseError, ResponseBodyError } = await library()
    if (cause instanceof AuthorizationResponseError) {
      if (cause.error === 'access_denied') throw invalidCredentials(`You cancelled the sign-in at ${name}`, cause)
      throw invalidCredentials(`${name} refused the sign-in. Try again.`, cause)
    }
    if (cause instanceof ResponseBodyError)
      throw invalidCredentials(`${name} did not accept the sign-in. Start it again.`, cause)
    throw new ApiError(
      'external_service_error',
      `The sign-in at ${name} does not work now. Sign in another way, or try again later.`,
      { cause },
    )
  }
}
