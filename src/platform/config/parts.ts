// Parts of the configuration that several variables make together.
import { join } from 'node:path'
import { Secret } from '#lib/access/secret.ts'
import type { CaptchaWidget, FilesConfig, ScannerConfig } from './config.ts'
import type { Env } from './env.ts'

export function filesConfig(env: Env, dataDir: string): FilesConfig {
  const folder = join(dataDir, 'files')
  if (env.S3_BUCKET === undefined) return { kind: 'folder', folder }
  return {
    kind: 's3',
    bucket: env.S3_BUCKET,
    endpoint: env.S3_ENDPOINT === undefined ? undefined : normalAddress(env.S3_ENDPOINT),
    region: env.S3_REGION,
    pathStyle: env.S3_PATH_STYLE ?? env.S3_ENDPOINT !== undefined,
    prefix: env.S3_PREFIX === undefined ? '' : `${env.S3_PREFIX.replace(/\/$/, '')}/`,
    links: env.S3_DOWNLOADS === 'redirect',
    staging: join(folder, 'staging'),
  }
}

export function captchaWidget(env: Env): CaptchaWidget | undefined {
  const { CAPTCHA_SITE_KEY: siteKey, CAPTCHA_SCRIPT_URL: script, CAPTCHA_WIDGET_CLASS: className } = env
  if (siteKey === undefined || script === undefined || className === undefined) return undefined
  const { href: scriptUrl, origin } = new URL(script)
  const others = env.CAPTCHA_ORIGINS?.split(/ +/) ?? []
  return { siteKey, scriptUrl, className, origins: [...new Set([origin, ...others])] }
}

export function scannerConfig(env: Env): ScannerConfig {
  const timeoutMs = env.SCANNER_TIMEOUT_SECONDS * 1000
  if (env.SCANNER_COMMAND !== undefined) {
    return { kind: 'command', words: env.SCANNER_COMMAND.split(/ +/), timeoutMs }
  }
  if (env.SCANNER_URL === undefined) return { kind: 'none' }
  return { kind: 'url', url: new URL(env.SCANNER_URL).href, token: secret(env.SCANNER_TOKEN), timeoutMs }
}

/** An address as everything else builds on it: host name in ASCII and lower case, no slash at the end. */
export const normalAddress = (url: string): string => new URL(url).href.replace(/\/+$/, '')

export const secret = (value: string | undefined): Secret | undefined =>
  value === undefined ? undefined : new Secret(value)
