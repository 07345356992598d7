/** The operator has configured no mail server, or has removed it. */
export class MailOffError extends Error {
  readonly code = 'MAIL_OFF'
}

/**
 * Explains the codes of Node's sockets, resolver and TLS, of undici and of nodemailer to an
 * endpoint's owner.
 */
const SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed before a response',
  EPIPE: 'connection closed before a response',
  UND_ERR_SOCKET: 'connection closed before a response',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'host unreachable',
  ENOTFOUND: 'the host name does not resolve',
  EAI_AGAIN: 'the host name could not be looked up',
  ETIMEDOUT: 'timed out while connecting',
  UND_ERR_CONNECT_TIMEOUT: 'timed out while connecting',
  UND_ERR_HEADERS_TIMEOUT: 'no response in time',
  UND_ERR_ABORTED: 'no response in time',
  UND_ERR_HEADERS_OVERFLOW: 'the response headers are too large',
  CERT_HAS_EXPIRED: 'the TLS certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the TLS certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the TLS certificate is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the TLS certificate chain is incomplete',
  MAIL_OFF: 'this installation sends no mail',
  ECONNECTION: 'the mail server could not be reached',
  ESOCKET: 'the mail server was unreachable, or its TLS certificate was refused',
  EDNS: 'the mail server could not be reached',
  ETLS: 'the TLS connection failed',
  EAUTH: 'the mail server refused the login',
  EENVELOPE: 'the mail server refused the address',
  EMESSAGE: 'the mail server refused the mail',
  EPROTOCOL: 'the mail server broke off',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the TLS certificate is for another name',
}

/** One short sentence without addresses, response bytes or stack. */
export function explainDeliveryError(error: unknown): string {
  if (!(error instanceof Error)) return 'the request failed'
  if (error.name === 'TimeoutError') return 'no response in time'
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (code === 'WEBHOOK_TARGET_REFUSED') return error.message
  const sentence = SENTENCES[code]
  if (sentence !== undefined) return sentence
  if (error.name === 'HTTPParserError') return 'the response is not HTTP'
  if (/TLS|SSL|CERT/.test(code)) return 'the TLS connection failed'
  return 'the request failed'
}
