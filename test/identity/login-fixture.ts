import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import {
  type Login,
  type LoginOptions,
  startLogin,
} from '../../src/identity-provider/login/start-login.js'

export const AUDIENCE = 'urn:countersign:console'
export const EMAIL = 'Ada@example.test'
export const PASSWORD = 'correct horse battery staple'

export interface RunningLogin extends Login {
  readonly dataDir: string
  /** Everything logged so far, as text. */
  logged(): string
  stop(): Promise<void>
}

/** A real login server on a free port with one account, in a directory of its own. */
export async function runLogin(overrides: Partial<LoginOptions> = {}): Promise<RunningLogin> {
  const dataDir = mkdtempSync(join(tmpdir(), 'countersign-login-'))
  let lines = ''
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines += String(chunk)
      done()
    },
  })
  const login = await startLogin({
    port: 0,
    host: '127.0.0.1',
    dataDir,
    audience: AUDIENCE,
    mode: 'dev',
    devUser: { email: EMAIL, password: PASSWORD },
    log: pino(sink),
    ...overrides,
  })
  return {
    ...login,
    dataDir,
    logged: () => lines,
    async stop() {
      await login.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** The claims of a JWT, unverified. */
export function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
}
