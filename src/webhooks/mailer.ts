import type { SmtpSettings } from '../config/smtp.js'
import type { AlertText } from './alert-text.js'

/** Tells people by e-mail, through the operator's own server: no address here is a stranger's choice. */
export interface Mailer {
  /** @returns the server's reply code @throws whatever kept it from taking the mail */
  send(to: string, messageId: string, text: AlertText, timeoutMs: number): Promise<number>
}

/** As servers answer what they took (RFC 5321, section 4.2.3). */
const TAKEN = 250

/**
 * @param ca PEM of a certificate authority to trust, and no other; default: Node's own list
 */
export function createMailer(settings: SmtpSettings, ca?: string): Mailer {
  const { host, port, tls, login, from } = settings
  return {
    async send(to, messageId, { title, text }, timeoutMs) {
      // Most installations send no mail, and need not load what does.
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
        // As an object it is one address, whatever is in it.
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

/** A server that drips bytes keeps no attempt open; its connection ends by its own time-outs. */
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
