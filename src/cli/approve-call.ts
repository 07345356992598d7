import { approvalTermMessage, readApprovalTerm } from '../custody/approvals/approval-term.js'
import { ID_PREFIX, ulidOfBytes } from '../domain/ids.js'
import type { AuthorizerAnswer, AuthorizerClient } from './authorizer-client.js'
import { openKey, openKeyFile, savedKeys } from './authorizer-keys.js'
import { UsageError } from './exit-codes.js'
import type { Io } from './io.js'

/** Waiting calls, read directly from the identity provider: the service need not be up. */

export async function showCall(client: AuthorizerClient, approvalId: string) {
  return recordOf(await client.call('call', { approval_id: approvalId }))
}

export async function declineCall(client: AuthorizerClient, approvalId: string, comment: string) {
  return recordOf(await client.call('decline-call', { approval_id: approvalId, comment }))
}

/**
 * Signs the term of a call after showing it.
 * @param keyFile a key file in another place than this user's keys; null for one of those
 * @param sign false only shows the call
 * @throws UsageError when signing was not confirmed, or the user has no key here
 */
export async function approveCall(
  io: Io,
  client: AuthorizerClient,
  approvalId: string,
  { keyFile, sign }: { readonly keyFile: string | null; readonly sign: boolean },
) {
  const waiting = await client.call('call', { approval_id: approvalId })
  const { term: encoded, statement } = termOf(waiting)
  const named = `${ID_PREFIX.approval}${ulidOfBytes(statement.approvalId)}`
  if (named !== approvalId) {
    throw new UsageError(
      `the identity provider asked for a signature of another approval (${named}); not signed`,
    )
  }
  for (const { name, value } of waiting.lines ?? []) io.err(`  ${name.padEnd(28)}${value}\n`)
  if (!sign)
    throw new UsageError('nothing is signed yet: run it again with --yes to approve this call')
  const { authorizer_id, signer } = keyFor(io, waiting, keyFile, client.origin)
  const signature = (await signer.sign(approvalTermMessage(encoded))).toString('base64url')
  const proof = { authorizer_id, signature }
  const approved = await client.call('approve-call', { approval_id: approvalId, proof })
  io.err(`approved by ${authorizer_id}\n`)
  return recordOf(approved)
}

function termOf({ term = '' }: AuthorizerAnswer) {
  const encoded = Buffer.from(term, 'base64url')
  const { statement, rest } = readApprovalTerm(encoded)
  if (rest.length > 0)
    throw new UsageError('the identity provider asked for a signature of something else')
  return { term: encoded, statement }
}

function keyFor(
  io: Io,
  { authorizers = [] }: AuthorizerAnswer,
  keyFile: string | null,
  origin: string,
) {
  if (keyFile !== null) return openKeyFile(io, keyFile)
  const here = new Set(savedKeys(io).map((key) => key.authorizer_id))
  const own = authorizers.find(({ authorizer_id }) => here.has(authorizer_id))
  if (own === undefined) {
    throw new UsageError(
      `this machine has none of your authorizers: approve it with your passkey at ${origin}`,
    )
  }
  return { authorizer_id: own.authorizer_id, signer: openKey(io, own.authorizer_id) }
}

/** Joins lines of the same name: a call may send a token and native value. */
function recordOf({ approval_id, state, expires_at, lines = [] }: AuthorizerAnswer) {
  const own = { approval_id, state, expires_at }
  const said = new Map<string, string>()
  for (const { name, value } of lines) {
    const field = wireName(name)
    const before = said.get(field)
    said.set(field, before === undefined ? value : `${before}; ${value}`)
  }
  return { ...own, ...Object.fromEntries(said), ...own }
}

export function wireName(title: string): string {
  return title.toLowerCase().replace(/[^a-z0-9]+/g, '_')
}
