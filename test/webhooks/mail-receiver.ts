import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  /** Headers and body as they came. */
  readonly text: string
  readonly user: string | null
  readonly secure: boolean
}

export interface MailReceiver {
  readonly port: number
  readonly received: readonly ReceivedMail[]
  stop(): Promise<void>
}

export interface MailReceiverOptions {
  readonly login?: { readonly user: string; readonly password: string }
  readonly tls?: { readonly key: string; readonly cert: string }
  /** Refuses every recipient with it. */
  readonly refuses?: number
}

/** A real SMTP server on loopback that records what it gets. */
export async function startMailReceiver(options: MailReceiverOptions = {}): Promise<MailReceiver> {
  const { login, tls, refuses } = options
  const received: ReceivedMail[] = []
  const server = new SMTPServer({
    ...tls,
    disabledCommands: [...(login === undefined ? ['AUTH'] : []), ...(tls ? [] : ['STARTTLS'])],
    disableReverseLookup: true,
    authOptional: login === undefined,
    onAuth({ username, password }, _session, done) {
      if (username === login?.user && password === login?.password) done(null, { user: username })
      else done(new Error('wrong'))
    },
    onRcptTo(_address, _session, done) {
      if (refuses === undefined) done()
      else done(Object.assign(new Error('no'), { responseCode: refuses }))
    },
    onData(stream, { envelope, user, secure }, done) {
      let text = ''
      stream.setEncoding('utf8')
      stream.on('data', (chunk: string) => {
        text += chunk
      })
      stream.on('end', () => {
        const { mailFrom, rcptTo } = envelope
        received.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          ...{ text, user: typeof user === 'string' ? user : null, secure },
        })
        done()
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  return {
    ...{ port, received },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
