import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { writePrivateFile } from '../../custody/domain-keys/private-file.js'

const jwk = z.strictObject({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: z.string(),
  y: z.string(),
  d: z.string(),
  kid: z.string(),
  alg: z.literal('ES256'),
  use: z.literal('sig'),
})

const keysFile = z.strictObject({
  /** The first signs; the others stay published until tokens they signed have expired. */
  signing_keys: z.array(jwk).min(1).max(4),
  /** The first signs cookies; the others still verify. */
  cookie_keys: z.array(z.string().min(32)).min(1).max(4),
})

export interface LoginKeys {
  readonly signingJwks: readonly z.infer<typeof jwk>[]
  readonly cookieKeys: readonly string[]
}

/**
 * Reads the login's own secrets, or generates them at the first start (file mode 0600). They sign
 * console tokens only; the approval key of the vault is another key, in another file.
 * @throws Error that names the file when it is unreadable or malformed
 */
export function loadLoginKeys(dataDir: string): LoginKeys {
  const path = join(dataDir, 'login-keys.json')
  const text = readIfPresent(path)
  if (text === undefined) {
    const generated = generateKeys()
    writePrivateFile(path, Buffer.from(`${JSON.stringify(generated, null, 2)}\n`))
    return { signingJwks: generated.signing_keys, cookieKeys: generated.cookie_keys }
  }
  const parsed = keysFile.safeParse(parseJson(path, text))
  if (!parsed.success) throw new Error(`${path}: ${z.prettifyError(parsed.error)}`)
  return { signingJwks: parsed.data.signing_keys, cookieKeys: parsed.data.cookie_keys }
}

function generateKeys(): z.infer<typeof keysFile> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const signing = jwk.parse({
    ...privateKey.export({ format: 'jwk' }),
    kid: randomUUID(),
    alg: 'ES256',
    use: 'sig',
  })
  return { signing_keys: [signing], cookie_keys: [randomBytes(32).toString('base64url')] }
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own message quotes the text, which holds keys.
    throw new Error(`${path}: not JSON`)
  }
}
