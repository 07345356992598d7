import type { EventType } from './use-webhooks.js'

const EVENT_TYPES: readonly EventType[] = [
  ...(['transaction.broadcast', 'transaction.confirmed', 'transaction.failed'] as const),
  ...(['transaction.dropped', 'limit.reached', 'key.rotated', 'key.revoked'] as const),
  ...(['approval.requested', 'approval.approved', 'approval.declined'] as const),
  ...(['approval.expired', 'user.frozen', 'user.unfrozen', 'wallet.frozen'] as const),
  ...(['wallet.unfrozen', 'key.frozen', 'key.unfrozen'] as const),
]

/** Which events it is told of; none chosen: the usual ones. */
export function EventChoices(shown: {
  readonly chosen: readonly EventType[]
  readonly onChange: (chosen: readonly EventType[]) => void
}) {
  const { chosen, onChange } = shown
  return (
    <fieldset>
      <legend>
        Events <span class="mute">(none chosen: the usual ones)</span>
      </legend>
      <div class="choices">
        {EVENT_TYPES.map((type) => (
          <label key={type} class="choice">
            <input
              type="checkbox"
              checked={chosen.includes(type)}
              // Types that a newer service has stay chosen.
              onChange={({ currentTarget }) =>
                onChange(
                  currentTarget.checked ? [...chosen, type] : chosen.filter((one) => one !== type),
                )
              }
            />
            {type}
          </label>
        ))}
      </div>
    </fieldset>
  )
}
