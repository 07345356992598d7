import { hostname } from 'node:os'
import type { Command } from 'commander'
import { authorizerName } from '../../custody/authorizers/authorizer.js'
import {
  authorizerIdOf,
  certificateMessage,
  decodeCertificate,
} from '../../custody/authorizers/certificate.js'
import { p256SignerOf } from '../../quorum-protocol/p256.js'
import {
  type AuthorizerAnswer,
  type AuthorizerClient,
  type AuthorizerOptions,
  AuthorizerRefusal,
  connectAuthorizers,
  type ListedAuthorizer,
} from '../authorizer-client.js'
import { forgetKey, newAuthorizerKey, openKey, savedKeys, saveKey } from '../authorizer-keys.js'
import { UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'
import { printRecord, printRows } from '../print.js'
import { registerRecover } from './authorizer-recover.js'

const COLUMNS = ['authorizer_id', 'kind', 'label', 'created_at', 'here']
const ISSUER = ['--issuer <url>', 'address of the identity provider'] as const

export function register(program: Command, io: Io): void {
  const label = `command line of ${hostname()}`
  const authorizer = program
    .command('authorizer')
    .description('your keys that confirm what API keys may do (sign-in)')
  authorizer
    .command('list', { isDefault: true })
    .description('your passkeys and P-256 keys')
    .option(...ISSUER)
    .action(async (_given: object, command: Command) => {
      const options = command.optsWithGlobals<AuthorizerOptions>()
      const { authorizers = [] } = await (await connectAuthorizers(io, options)).call('list')
      const rows = authorizers.map((row) => ({ ...row, here: isHere(io, row) ? 'yes' : 'no' }))
      printRows(io, options, { authorizers: rows }, rows, COLUMNS)
    })
  authorizer
    .command('create')
    .description('make a P-256 key on this machine and register it')
    .option('--label <text>', 'name of the key', label)
    .option(...ISSUER)
    .action(async ({ label }: { readonly label: string }, command: Command) => {
      const options = command.optsWithGlobals<AuthorizerOptions>()
      const made = await create(io, await connectAuthorizers(io, options), label)
      printRecord(io, options, made, ['authorizer_id', 'label', 'file'])
      io.err('Keep the file: it confirms what your API keys may do.\n')
    })
  authorizer
    .command('approve')
    .description('confirm a change from the passkey page with a key on this machine')
    .argument('<ceremony_id>', 'id that the page shows')
    .option(...ISSUER)
    .action(async (ceremonyId: string, _given: object, command: Command) => {
      const options = command.optsWithGlobals<AuthorizerOptions>()
      const client = await connectAuthorizers(io, options)
      const waiting = await client.call('waiting', { ceremony_id: ceremonyId })
      const { action, kind, label, authorizerId } = decodeCertificate(
        Buffer.from(waiting.certificate ?? '', 'base64url'),
      )
      const change = { action, authorizer_id: authorizerName(authorizerId), kind, label }
      await approve(io, client, waiting)
      printRecord(io, options, change)
    })
  authorizer
    .command('remove')
    .description('end an authorizer, confirmed by another one or itself')
    .argument('<authorizer_id>')
    .option(...ISSUER)
    .action(async (authorizerId: string, _given: object, command: Command) => {
      const options = command.optsWithGlobals<AuthorizerOptions>()
      const client = await connectAuthorizers(io, options)
      await approve(io, client, await client.call('remove', { authorizer_id: authorizerId }))
      forgetKey(io, authorizerId)
      printRecord(io, options, { authorizer_id: authorizerId, removed: true })
    })
  registerRecover(authorizer, io, label)
}

async function create(io: Io, client: AuthorizerClient, label: string) {
  const key = newAuthorizerKey()
  const signer = p256SignerOf(key)
  const authorizer_id = authorizerName(authorizerIdOf(Buffer.alloc(0), signer.publicKey))
  const public_key = signer.publicKey.toString('base64url')
  const begun = await client.call('begin', { kind: 'p256', label, public_key })
  const certificate = Buffer.from(begun.certificate ?? '', 'base64url')
  const created_at = new Date().toISOString()
  const file = saveKey(
    io,
    { authorizer_id, label, identity_provider: client.origin, created_at },
    key,
  )
  try {
    const signature = (await signer.sign(certificateMessage(certificate))).toString('base64url')
    const body = { ceremony_id: begun.ceremony_id, signature }
    await approve(io, client, await client.call('finish', body))
  } catch (error) {
    // A key that may be registered stays, even without an answer: it may be the user's only one.
    if (error instanceof AuthorizerRefusal || error instanceof UsageError) {
      forgetKey(io, authorizer_id)
    } else {
      io.err(`${file} is kept: run countersign authorizer list to see whether it is registered\n`)
    }
    throw error
  }
  return { authorizer_id, label, file }
}

/** Has an older key on this machine approve a change that needs it. */
async function approve(io: Io, client: AuthorizerClient, answer: AuthorizerAnswer): Promise<void> {
  if (answer.status !== 'approval_required') return
  const { ceremony_id, certificate = '', authorizers = [] } = answer
  const own = authorizers.find((row) => isHere(io, row))
  if (own === undefined) {
    throw new UsageError(
      `this machine has none of your authorizers: use your passkey at ${client.origin}/authorizers`,
    )
  }
  const message = certificateMessage(Buffer.from(certificate, 'base64url'))
  const signature = (await openKey(io, own.authorizer_id).sign(message)).toString('base64url')
  const proof = { authorizer_id: own.authorizer_id, signature }
  await client.call('approve', { ceremony_id, proof })
  io.err(`confirmed by ${own.label} (${own.authorizer_id})\n`)
}

function isHere(io: Io, { authorizer_id }: ListedAuthorizer): boolean {
  return savedKeys(io).some((key) => key.authorizer_id === authorizer_id)
}
