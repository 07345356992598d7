import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Pkcs11Settings } from '../../src/custody/key-stores/pkcs11-key-store.js'

/** Where Debian, Fedora and Homebrew put the library. */
const LIBRARIES = [
  '/usr/lib/softhsm/libsofthsm2.so',
  '/usr/lib64/softhsm/libsofthsm2.so',
  '/opt/homebrew/lib/softhsm/libsofthsm2.so',
]
const PIN = '648219'

function softHsmLibrary(): string {
  const found = LIBRARIES.find((path) => existsSync(path))
  if (found === undefined) {
    throw new Error(
      'SoftHSM2 is missing: apt-get install softhsm2 (or your system’s package of it)',
    )
  }
  return found
}

/**
 * A separate directory of SoftHSM tokens. `SOFTHSM2_CONF` must name `conf` in every process that
 * opens one of them; the library reads it once.
 */
export interface TokenDirectory {
  readonly conf: string
  /** Makes an empty token. @returns its settings in a domain's `store.json` */
  token(label: string): Pkcs11Settings & { readonly kind: 'pkcs11' }
}

/** @param directory is made here; removing it removes the tokens */
export function createTokenDirectory(directory: string): TokenDirectory {
  const module = softHsmLibrary()
  const tokens = join(directory, 'tokens')
  const conf = join(directory, 'softhsm2.conf')
  mkdirSync(tokens, { recursive: true, mode: 0o700 })
  writeFileSync(
    conf,
    `directories.tokendir = ${tokens}\nobjectstore.backend = file\nlog.level = ERROR\n`,
  )
  const pinFile = join(directory, 'pin')
  writeFileSync(pinFile, `${PIN}\n`, { mode: 0o600 })
  return {
    conf,
    token(label) {
      execFileSync(
        'softhsm2-util',
        ['--init-token', '--free', '--label', label, '--so-pin', PIN, '--pin', PIN],
        { env: { ...process.env, SOFTHSM2_CONF: conf }, stdio: 'ignore' },
      )
      return { kind: 'pkcs11', module, token: label, pin_file: pinFile }
    },
  }
}
