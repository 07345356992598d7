import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/**
 * Marks a browser in which a person has signed in to an account, so that strangers who guess
 * passwords cannot lock its owner out: failures with the mark count only against the mark, and its
 * password is compared before theirs. The mark proves nothing else and signs nobody in. OWASP,
 * "Slow Down Online Guessing Attacks with Device Cookies".
 */
export interface DeviceCookies {
  /** @returns the mark's id; null when the request carries no mark of this account */
  read(request: IncomingMessage, accountKey: string): string | null
  /** Returns the value of a `Set-Cookie` header. */
  issue(accountKey: string): string
}

const NAME = 'countersign_device'
const ID_BYTES = 16
/** A person who signs in less often loses the mark once. */
const LIFE_SECONDS = 180 * 86_400
const VALUE = /^([\w-]{22})\.([\w-]{43})$/
/** Browsers fill the header; none sends this much of ours. */
const COOKIE_CHARS_MAX = 8_192

/** @param keys the login's cookie keys: the first signs, all verify */
export function createDeviceCookies(
  keys: readonly string[],
  transport: 'tls' | 'plain',
): DeviceCookies {
  const [signing = ''] = keys

  return {
    read(request, accountKey) {
      const header = request.headers.cookie ?? ''
      if (header.length > COOKIE_CHARS_MAX) return null
      for (const pair of header.split(';')) {
        const [name, value = ''] = pair.trim().split('=', 2)
        const [, id, tag] = name === NAME ? (VALUE.exec(value) ?? []) : []
        if (id === undefined || tag === undefined) continue
        const given = Buffer.from(tag, 'base64url')
        const isOurs = (key: string) => timingSafeEqual(given, tagOf(key, id, accountKey))
        if (given.length === 32 && keys.some(isOurs)) return id
      }
      return null
    },
    issue(accountKey) {
      const id = randomBytes(ID_BYTES).toString('base64url')
      const value = `${id}.${tagOf(signing, id, accountKey).toString('base64url')}`
      const secure = transport === 'tls' ? '; Secure' : ''
      return `${NAME}=${value}; Path=/interaction; Max-Age=${LIFE_SECONDS}; HttpOnly; SameSite=Lax${secure}`
    },
  }
}

function tagOf(key: string, id: string, accountKey: string): Buffer {
  return createHmac('sha256', key)
    .update(`countersign/device-cookie/v1\0${id}\0${accountKey}`)
    .digest()
}
