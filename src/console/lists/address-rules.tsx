import { useState } from 'preact/hooks'
import { call, type Output } from '../api.js'
import { Id } from '../parts/copy-button.js'
import { More } from '../parts/more.js'
import { Card } from '../parts/page.js'
import { Answered, Empty } from '../parts/states.js'
import { StatusPill } from '../parts/status-pill.js'
import { StepDialog } from '../parts/step-dialog.js'
import { Table } from '../parts/table.js'
import { Ago } from '../parts/times.js'
import { useAction } from '../use-action.js'
import { AddressField } from './address-field.js'
import { useAddressRules } from './use-lists.js'

type Rule = Output<'GET', '/api/v1/agent/address-rules'>['rules'][number]
type RuleAction = Rule['action']

const NOTE_LENGTH_MAX = 64
const PATH = '/api/v1/agent/address-rules'

/** Addresses that the person blocks, or exempts from risk lists. */
export function AddressRules() {
  const rules = useAddressRules()
  return (
    <Card title="Your rules" actions={<NewRule />}>
      <Answered query={rules} what="your rules">
        {({ pages }) => {
          const rows = pages.flatMap((page) => page.rules)
          if (rows.length === 0) {
            return (
              <Empty title="You have no rules">
                <p>Sanctions lists and the operator's lists apply regardless of these rules.</p>
              </Empty>
            )
          }
          return (
            <>
              <Table
                caption="Your rules"
                rows={rows}
                keyOf={({ address }) => address}
                columns={[
                  {
                    title: 'Address',
                    cell: ({ address }) => <Id value={address} label="Copy the address" />,
                  },
                  {
                    title: 'Rule',
                    cell: ({ action }) => (
                      <StatusPill status={action} tone={action === 'block' ? 'bad' : 'ok'} />
                    ),
                  },
                  { title: 'Note', cell: ({ note }) => note ?? '' },
                  { title: 'Set', cell: ({ created_at }) => <Ago at={created_at} /> },
                  { title: 'Remove', cell: (rule) => <Remove of={rule} /> },
                ]}
              />
              <More query={rules} />
            </>
          )
        }}
      </Answered>
    </Card>
  )
}

function NewRule() {
  const [isOpen, open] = useState(false)
  return (
    <>
      <button type="button" class="primary" onClick={() => open(true)}>
        New rule
      </button>
      {isOpen && <RuleForm onClose={() => open(false)} />}
    </>
  )
}

function RuleForm({ onClose }: { readonly onClose: () => void }) {
  const [address, setAddress] = useState('')
  const [note, setNote] = useState('')
  const [action, setAction] = useState<RuleAction>('block')
  const put = useAction(
    () =>
      call('POST', PATH, {
        address: address.trim(),
        action,
        note: note.trim() === '' ? null : note.trim(),
      }),
    onClose,
  )
  return (
    <StepDialog
      title="New rule"
      step={put}
      label="Set the rule"
      runningLabel="Setting it…"
      onClose={onClose}
    >
      <AddressField name="address" value={address} onInput={setAddress} />
      <label>
        Effect
        <select
          value={action}
          onChange={({ currentTarget }) =>
            setAction(currentTarget.value === 'allow' ? 'allow' : 'block')
          }
        >
          <option value="block">Block: calls that name it are refused</option>
          <option value="allow">Allow: risk lists do not apply to it</option>
        </select>
      </label>
      <label>
        Note <span class="mute">(optional)</span>
        <input
          maxLength={NOTE_LENGTH_MAX}
          value={note}
          onInput={({ currentTarget }) => setNote(currentTarget.value)}
        />
      </label>
    </StepDialog>
  )
}

function Remove({ of: { address, action } }: { readonly of: Rule }) {
  const [isOpen, open] = useState(false)
  const close = () => open(false)
  const remove = useAction(() => call('DELETE', PATH, { address }), close)
  return (
    <>
      <button
        type="button"
        aria-label={`Remove the rule for ${address}`}
        onClick={() => open(true)}
      >
        Remove
      </button>
      {isOpen && (
        <StepDialog
          title="Remove this rule?"
          step={remove}
          label="Remove"
          runningLabel="Removing…"
          tone="danger"
          onClose={close}
        >
          <p class="address">
            <code>{address}</code>
          </p>
          <p>
            {action === 'block'
              ? 'Your agents can send to it again, unless a list contains it.'
              : 'Risk lists that contain it apply again.'}
          </p>
        </StepDialog>
      )}
    </>
  )
}
