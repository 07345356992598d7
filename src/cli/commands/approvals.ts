import type { Command } from 'commander'
import { ID_PREFIX, isId } from '../../domain/ids.js'
import { approveCall, declineCall, showCall } from '../approve-call.js'
import { type AuthorizerOptions, connectAuthorizers } from '../authorizer-client.js'
import { UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'
import { printRecord } from '../print.js'

const ISSUER = ['--issuer <url>', 'address of the identity provider'] as const

type ApproveOptions = AuthorizerOptions & { readonly key?: string; readonly yes?: boolean }

export function register(program: Command, io: Io): void {
  const approvals = program
    .command('approvals')
    .description('calls of your API keys that wait for you, at the identity provider (sign-in)')
  approvals
    .command('show')
    .description('one call in words, as the identity provider decodes what is signed')
    .argument('<approval_id>')
    .option(...ISSUER)
    .action(async (id: string, _given: object, command: Command) => {
      const options = command.optsWithGlobals<AuthorizerOptions>()
      const client = await connectAuthorizers(io, options)
      printRecord(io, options, await showCall(client, approvalId(id)))
    })
  approvals
    .command('approve')
    .description('sign one call with a P-256 key of this machine')
    .argument('<approval_id>')
    .option('--key <file>', 'the key to sign with; default: yours of this machine')
    .option('--yes', 'sign it: you have read what it does')
    .option(...ISSUER)
    .action(async (id: string, _given: object, command: Command) => {
      const options = command.optsWithGlobals<ApproveOptions>()
      const client = await connectAuthorizers(io, options)
      const how = { keyFile: options.key ?? null, sign: options.yes === true }
      printRecord(io, options, await approveCall(io, client, approvalId(id), how))
    })
  approvals
    .command('decline')
    .description('decline one call, for good')
    .argument('<approval_id>')
    .option('--comment <text>', 'a reason, which the agent gets', '')
    .option(...ISSUER)
    .action(async (id: string, { comment }: { readonly comment: string }, command: Command) => {
      const options = command.optsWithGlobals<AuthorizerOptions>()
      const client = await connectAuthorizers(io, options)
      printRecord(io, options, await declineCall(client, approvalId(id), comment))
    })
}

function approvalId(id: string): string {
  if (isId(ID_PREFIX.approval, id)) return id
  throw new UsageError(`"${id}" is no approval id: apr_ and 26 characters`)
}
