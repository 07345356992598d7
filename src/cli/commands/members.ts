import { type Command, Option } from 'commander'
import { ROLES, type Role } from '../../domain/role.js'
import { withAuthorization } from '../authorize.js'
import { consoleClient, type GlobalOptions } from '../connection.js'
import type { Io } from '../io.js'
import { printRecord, printRows } from '../print.js'

const COLUMNS = ['person_id', 'email', 'role', 'status', 'since', 'accept_before']

const roleOption = () =>
  new Option('--role <role>', 'their role in the account').choices(ROLES).makeOptionMandatory()

export function register(program: Command, io: Io): void {
  const members = program.command('members').description('members of your account, and invitations')
  members
    .command('list', { isDefault: true })
    .description('list members and invited persons')
    .action(async (_given: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const value = await (await consoleClient(io, options)).listMembers()
      printRows(io, options, value, value.members, COLUMNS)
    })
  members
    .command('invite')
    .description("invite a person with a login here; needs an owner's authorizer")
    .argument('<email>')
    .addOption(roleOption())
    .action(async (email: string, { role }: { readonly role: Role }, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const client = await consoleClient(io, options)
      const wish = { action: 'invite', role } as const
      const answer = await withAuthorization(io, 'member', wish, (authorization) =>
        client.inviteMember({ email, role, ...given(authorization) }),
      )
      printRecord(io, options, answer)
    })
  members
    .command('role')
    .description("change a member's role; a raise needs an owner's authorizer")
    .argument('<person_id>')
    .addOption(roleOption())
    .action(async (personId: string, { role }: { readonly role: Role }, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const client = await consoleClient(io, options)
      const wish = { action: 'change', personId, role } as const
      const answer = await withAuthorization(io, 'member', wish, (authorization) =>
        client.changeMember({ person_id: personId, role, ...given(authorization) }),
      )
      printRecord(io, options, answer)
    })
  members
    .command('remove')
    .description('remove a member, or withdraw an invitation')
    .argument('<person_id>')
    .action(async (personId: string, _given: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const client = await consoleClient(io, options)
      printRecord(io, options, await client.removeMember({ person_id: personId }))
    })
  members
    .command('leave')
    .description('leave the account that you are signed in to')
    .action(async (_given: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      printRecord(io, options, await (await consoleClient(io, options)).leaveAccount())
    })
  members
    .command('accept')
    .description('accept an invitation to another account; needs one of your authorizers')
    .argument('<account_id>')
    .action(async (accountId: string, _given: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const client = await consoleClient(io, options)
      const wish = { action: 'accept', accountId } as const
      const answer = await withAuthorization(io, 'join', wish, (authorization) =>
        client.acceptInvitation({ account_id: accountId, ...given(authorization) }),
      )
      printRecord(io, options, answer)
    })
  members
    .command('decline')
    .description('decline an invitation to another account')
    .argument('<account_id>')
    .action(async (accountId: string, _given: object, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const client = await consoleClient(io, options)
      printRecord(io, options, await client.declineInvitation({ account_id: accountId }))
    })
}

function given<T>(authorization: T | undefined): { authorization?: T } {
  return authorization === undefined ? {} : { authorization }
}
