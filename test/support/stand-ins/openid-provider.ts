// A certified OpenID Connect provider on this machine. Its pages accept every name and password; the name is the user.
import { createServer } from 'node:http'
import { Provider } from 'oidc-provider'
import { freePort } from '../processes/free-port.ts'

/** `depotUrl`: public URL of the instance. The provider has verified the address `NAME@example.org` of each user. */
export async function startOpenIdProvider(depotUrl: string) {
  const url = `http://localhost:${await freePort()}`
  const client = { client_id: 'depot', client_secret: 'openid-secret' }
  const provider = new Provider(url, {
    clients: [{ ...client, redirect_uris: [`${depotUrl}/account/sign-in/callback/campus`] }],
    claims: { email: ['email', 'email_verified'], profile: ['preferred_username'] },
    cookies: { keys: ['keys of a test'] },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, preferred_username: id, email: `${id}@example.org`, email_verified: true }),
    }),
  })
  const server = createServer(provider.callback())
  await new Promise<void>((resolve) => server.listen(Number(new URL(url).port), 'localhost', resolve))
  return {
    url,
    settings: JSON.stringify([{ kind: 'oidc', id: 'campus', name: 'Campus', issuer: url, ...client }]),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
