import { EVENT_TYPES } from '../../domain/event-types.js'
import type { EventType } from './use-webhooks.js'

/** A test belongs to one endpoint, so no filter names it. */
const CHOICES = EVENT_TYPES.filter((type) => type !== 'webhook.test')

/** The events that it receives; if none is selected, the default ones. */
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
        {CHOICES.map((type) => (
          <label key={type} class="choice">
            <input
              type="checkbox"
              checked={chosen.includes(type)}
              // Types that only a newer service has stay selected.
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
