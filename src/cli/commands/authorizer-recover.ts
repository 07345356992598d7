import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { authorizerName } from '../../custody/authorizers/authorizer.js'
import { authorizerIdOf, certificateMessage } from '../../custody/authorizers/certificate.js'
import { readApprovedRecovery } from '../../custody-tools/provisioning/approve-authorizer.js'
import { p256SignerOf } from '../../quorum-protocol/p256.js'
import {
  type AuthorizerClient,
  type AuthorizerOptions,
  connectAuthorizers,
} from '../authorizer-client.js'
import { forgetKey, newAuthorizerKey, saveKey } from '../authorizer-keys.js'
import { UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'
import { printRecord } from '../print.js'

interface RecoverFlags extends AuthorizerOptions {
  readonly request?: string
  readonly approved?: string
  readonly label: string
}

/** The user's part when every authorizer is lost: request a new key, then hand in the approval. */
export function registerRecover(authorizer: Command, io: Io, label: string): void {
  authorizer
    .command('recover')
    .description('request a new key from the operator when every authorizer is lost')
    .option('--request <file>', 'make a key and write the request for the operator')
    .option('--approved <file>', 'hand in the approved request; all older authorizers end')
    .option('--label <text>', 'name of the new key', label)
    .option('--issuer <url>', 'address of the identity provider')
    .action(async (_given: object, command: Command) => {
      const options = command.optsWithGlobals<RecoverFlags>()
      const { request, approved } = options
      if (request !== undefined && approved === undefined) {
        const client = await connectAuthorizers(io, options)
        printRecord(io, options, await ask(io, client, options.label, resolve(request)))
        io.err('Send the file to the operator, and the authorizer id over another channel.\n')
      } else if (approved !== undefined && request === undefined) {
        const { user_id, ...recovery } = readApprovedRecovery(resolve(approved))
        const client = await connectAuthorizers(io, options)
        const { authorizers: [own] = [] } = await client.call('recover', recovery)
        printRecord(io, options, { user_id, authorizer_id: own?.authorizer_id, label: own?.label })
      } else
        throw new UsageError(
          'pass --request to make a request, or --approved to hand in the approval',
        )
    })
}

async function ask(io: Io, client: AuthorizerClient, label: string, path: string) {
  const { user_id, authorizers = [] } = await client.call('list')
  if (authorizers.length === 0) {
    throw new UsageError('you have no authorizer yet: run countersign authorizer create')
  }
  const key = newAuthorizerKey()
  const signer = p256SignerOf(key)
  const authorizer_id = authorizerName(authorizerIdOf(Buffer.alloc(0), signer.publicKey))
  const public_key = signer.publicKey.toString('base64url')
  const { certificate = '' } = await client.call('begin', { kind: 'p256', label, public_key })
  const message = certificateMessage(Buffer.from(certificate, 'base64url'))
  const signature = (await signer.sign(message)).toString('base64url')
  const created_at = new Date().toISOString()
  const facts = { authorizer_id, label, identity_provider: client.origin, created_at }
  const file = saveKey(io, facts, key)
  try {
    const asked = JSON.stringify({ user_id, certificate, signature })
    writeFileSync(path, `${asked}\n`, { flag: 'wx' })
  } catch (error) {
    forgetKey(io, authorizer_id)
    throw error
  }
  return { user_id, authorizer_id, label, file, request: path }
}
