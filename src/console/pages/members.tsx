import { useState } from 'preact/hooks'
import { call } from '../api.js'
import { InviteMember, RoleField } from '../members/invite-member.js'
import { type Role, useMay } from '../members/roles.js'
import { type Member, useMembers } from '../members/use-members.js'
import { ConfirmedAction } from '../parts/confirmed-action.js'
import { Card, Page } from '../parts/page.js'
import { Answered } from '../parts/states.js'
import { StatusPill } from '../parts/status-pill.js'
import { StepDialog } from '../parts/step-dialog.js'
import { Table } from '../parts/table.js'
import { Ago, Left } from '../parts/times.js'
import { useMe } from '../queries.js'
import { switchAccount } from '../session/session.js'
import { useAction } from '../use-action.js'

/** The members of the account, and the person's invitations to others. */
export function MembersPage() {
  const members = useMembers()
  const isOwner = useMay('enlarge')
  return (
    <Page title="Members">
      <div class="stack">
        <Invitations />
        <Card title="In this account" actions={isOwner ? <InviteMember /> : null}>
          <Answered query={members} what="members">
            {({ members: all }) => <Members all={all} isOwner={isOwner} />}
          </Answered>
        </Card>
      </div>
    </Page>
  )
}

function Members({ all, isOwner }: { readonly all: readonly Member[]; readonly isOwner: boolean }) {
  const me = useMe()
  const own = me.data?.person_id
  return (
    <Table
      caption="Members"
      rows={all}
      keyOf={({ person_id }) => person_id}
      columns={[
        {
          title: 'Person',
          cell: ({ email, person_id }) => (
            <div>
              <bdi>{email ?? (person_id === own ? me.data?.email : null) ?? person_id}</bdi>
              <span class="line small mute">{person_id === own ? 'you' : person_id}</span>
            </div>
          ),
        },
        { title: 'Role', cell: ({ role }) => role },
        {
          title: 'Status',
          cell: ({ status, accept_before }) => (
            <div>
              <StatusPill status={status} />
              {accept_before !== null && (
                <span class="line small mute">
                  <Left until={accept_before} /> left
                </span>
              )}
            </div>
          ),
        },
        {
          title: 'Since',
          cell: ({ since }) => (since === null ? 'the beginning' : <Ago at={since} />),
        },
        {
          title: 'Actions',
          cell: (one) => (
            <div class="actions">
              {isOwner && one.status === 'member' && <ChangeRole member={one} />}
              {(isOwner || one.person_id === own) && all.length > 1 && (
                <Remove member={one} isOwn={one.person_id === own} />
              )}
            </div>
          ),
        },
      ]}
    />
  )
}

function ChangeRole({ member }: { readonly member: Member }) {
  const [role, setRole] = useState<Role>(member.role)
  return (
    <ConfirmedAction
      label="Change role"
      title="Change the role?"
      act={(authorization) =>
        call('PATCH', '/api/v1/agent/members/:person_id', {
          person_id: member.person_id,
          role,
          ...(authorization === null ? {} : { authorization }),
        })
      }
    >
      <p>
        <bdi>{member.email ?? member.person_id}</bdi> is {member.role} now.
      </p>
      <RoleField role={role} onChange={setRole} />
    </ConfirmedAction>
  )
}

function Remove(shown: { readonly member: Member; readonly isOwn: boolean }) {
  const { member, isOwn } = shown
  const [isOpen, open] = useState(false)
  const isOnlyOne = useMe().data?.accounts.length === 1
  const remove = useAction(
    () =>
      isOwn
        ? call('POST', '/api/v1/agent/members/leave', {})
        : call('DELETE', '/api/v1/agent/members/:person_id', { person_id: member.person_id }),
    () => {
      open(false)
      if (isOwn) void switchAccount(null)
    },
  )
  const label = isOwn ? 'Leave' : member.status === 'invited' ? 'Take back' : 'Remove'
  return (
    <>
      <button type="button" class="danger-quiet" onClick={() => open(true)}>
        {label}
      </button>
      {isOpen && (
        <StepDialog
          title={isOwn ? 'Leave this account?' : `${label} ${member.email ?? member.person_id}?`}
          step={remove}
          label={label}
          runningLabel="Working…"
          tone="danger"
          onClose={() => open(false)}
        >
          <p>
            {isOwn ? 'You lose access to it' : 'They lose access to this account'} at once. Coming
            back requires another invitation.
          </p>
          {isOwn && isOnlyOne && (
            <p role="alert">
              This is your only account. Without one you can neither sign in nor accept an
              invitation.
            </p>
          )}
          {!isOwn && member.status === 'member' && (
            <p class="small mute">
              Keys whose secrets they know and webhooks that they registered stay: rotate or remove
              those.
            </p>
          )}
        </StepDialog>
      )}
    </>
  )
}

/** Invitations of the signed-in person to other accounts. */
function Invitations() {
  const me = useMe(true)
  const waiting = me.data?.invitations ?? []
  if (waiting.length === 0) return null
  return (
    <Card title="You are invited">
      <Table
        caption="Invitations for you"
        rows={waiting}
        keyOf={({ account_id }) => account_id}
        columns={[
          { title: 'Account', cell: ({ account_id }) => account_id },
          { title: 'As', cell: ({ role }) => role },
          { title: 'Left', cell: ({ accept_before }) => <Left until={accept_before} /> },
          { title: 'Answer', cell: ({ account_id }) => <Answer accountId={account_id} /> },
        ]}
      />
    </Card>
  )
}

function Answer({ accountId }: { readonly accountId: string }) {
  const decline = useAction(() =>
    call('POST', '/api/v1/agent/invitations/decline', { account_id: accountId }),
  )
  return (
    <div class="actions">
      <ConfirmedAction
        label="Accept"
        title="Join this account?"
        act={(authorization) =>
          call('POST', '/api/v1/agent/invitations/accept', {
            account_id: accountId,
            ...(authorization === null ? {} : { authorization }),
          })
        }
      >
        <p>Your passkey confirms it. Your own account does not change.</p>
      </ConfirmedAction>
      <button type="button" disabled={decline.isRunning} onClick={decline.run}>
        Decline
      </button>
    </div>
  )
}
