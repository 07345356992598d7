import { isIP } from 'node:net'
import { fault, ok, type Result, refuse } from '../errors/fault.js'
import { isPublicAddress, type WebhookTargets } from './target-address.js'

const URL_CHARS_MAX = 2_048
/** Names that never resolve on the public Internet (RFC 6761, RFC 6762, ICANN's `.internal`). */
const LOCAL_NAMES = ['localhost', 'local', 'internal', 'home.arpa']

/**
 * Checks a URL at registration, to refuse early what could never be delivered. It does not resolve
 * the host name, which may change and is checked at each connection.
 * @returns the URL in normal form, or INVALID_REQUEST with `details.path` = "url"
 */
export function validateWebhookUrl(text: string, targets: WebhookTargets): Result<string> {
  if (text.length > URL_CHARS_MAX) {
    return invalid(`The webhook URL is longer than ${URL_CHARS_MAX} characters.`)
  }
  if (!URL.canParse(text)) return invalid('The webhook URL is not an absolute URL.')
  const url = new URL(text)
  if (url.protocol !== 'https:' && !(targets === 'any' && url.protocol === 'http:')) {
    return invalid('The webhook URL must begin with https://.')
  }
  if (url.username !== '' || url.password !== '') {
    return invalid('The webhook URL must not contain a user name or password.')
  }
  if (url.hash !== '') return invalid('The webhook URL must not contain a fragment.')
  if (url.port === '0') return invalid('The port of the webhook URL is not usable.')
  const hostname = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  if (isIP(hostname) !== 0) {
    // The parser turns 0x7f.1 or 2130706433 into 127.0.0.1; such forms only serve to hide an
    // address.
    if (isIP(hostname) === 4 && !text.includes(hostname)) {
      return invalid('Write the IP address of the webhook URL in dotted decimal form.')
    }
    if (targets === 'public' && !isPublicAddress(hostname)) {
      return invalid('The webhook URL must not point to a private or reserved address.')
    }
  } else if (targets === 'public' && !isPublicName(hostname)) {
    return invalid('The webhook URL must name a host of the public Internet.')
  }
  return ok(url.href)
}

function isPublicName(hostname: string): boolean {
  if (!hostname.includes('.')) return false
  return !LOCAL_NAMES.some((name) => hostname === name || hostname.endsWith(`.${name}`))
}

function invalid(message: string): Result<string> {
  return refuse(fault('INVALID_REQUEST', { path: 'url' }, message))
}
