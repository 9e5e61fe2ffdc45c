// The build service that all tests of a process share.
import { type CiIssuer, startCiIssuer } from './ci-issuer.ts'

let started: Promise<CiIssuer> | undefined

/** Returns the service, which the first call starts. It does not keep the process running. */
export function buildService(): Promise<CiIssuer> {
  started ??= startCiIssuer()
  return started
}
