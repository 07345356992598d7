import type { SmtpSettings } from '../config/smtp.js'
import type { AlertText } from '../domain/event-types.js'

/**
 * Notifies people by e-mail through the operator's own server: users do not choose that server's
 * address.
 */
export interface Mailer {
  /**
   * @returns the server's reply code
   * @throws the error that prevented the server from accepting the mail
   */
  send(to: string, messageId: string, text: AlertText, timeoutMs: number): Promise<number>
}

/** The reply code for accepted mail (RFC 5321, section 4.2.3). */
const TAKEN = 250

/** @param ca PEM of the only certificate authority to trust; default: Node's own list */
export function createMailer(settings: SmtpSettings, ca?: string): Mailer {
  const { host, port, tls, login, from } = settings
  return {
    async send(to, messageId, { title, text }, timeoutMs) {
      // Most installations send no mail, and need not load the library.
      const { createTransport } = await import('nodemailer')
      const transport = createTransport({
        ...{ host, port },
        ...{
          secure: tls === 'implicit',
          requireTLS: tls === 'starttls',
          ignoreTLS: tls === 'none',
        },
        ...(login === null ? {} : { auth: { user: login.user, pass: login.password } }),
        ...(ca === undefined ? {} : { tls: { ca } }),
        ...{ dnsTimeout: timeoutMs, connectionTimeout: timeoutMs },
        ...{ greetingTimeout: timeoutMs, socketTimeout: timeoutMs },
        ...{ disableFileAccess: true, disableUrlAccess: true },
      })
      const domain = from.slice(from.lastIndexOf('@') + 1)
      const sending = transport.sendMail({
        from,
        // As an object it is always one address, whatever the text contains.
        to: { name: '', address: to },
        subject: title,
        text,
        messageId: `<${messageId}@${domain}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      })
      const { response } = await within(sending, timeoutMs)
      const code = Number(response.slice(0, 3))
      return Number.isInteger(code) ? code : TAKEN
    },
  }
}

/**
 * Bounds an attempt when a server sends single bytes slowly; the connection ends by its own
 * timeouts.
 */
async function within<T>(sending: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const error = new DOMException('the mail server took too long', 'TimeoutError')
    timer = setTimeout(() => reject(error), timeoutMs)
  })
  try {
    return await Promise.race([sending, late])
  } finally {
    clearTimeout(timer)
  }
}
