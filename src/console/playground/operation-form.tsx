import { type DocumentedField, type DocumentedOperation, inexactNumber } from './documented.js'

type Typed = Readonly<Record<string, string>>

/** The fields of one operation, as documented. */
export function OperationForm(shown: {
  readonly of: DocumentedOperation
  readonly typed: Typed
  readonly onChange: (typed: Typed) => void
}) {
  const { of: operation, typed, onChange } = shown
  if (operation.fields.length === 0) return <p class="mute">It takes no input.</p>
  const examples = Object.fromEntries(operation.fields.map(({ name, example }) => [name, example]))
  return (
    <>
      {operation.fields.map((field) => (
        <Field
          key={field.name}
          of={field}
          value={typed[field.name] ?? ''}
          onChange={(value) => onChange({ ...typed, [field.name]: value })}
        />
      ))}
      <div class="actions">
        <button type="button" onClick={() => onChange(examples)}>
          Fill in the example
        </button>
      </div>
    </>
  )
}

function Field(shown: {
  readonly of: DocumentedField
  readonly value: string
  readonly onChange: (value: string) => void
}) {
  const { value, onChange } = shown
  const { name, type, isRequired, description, pattern, choices, example } = shown.of
  const common = {
    name,
    value,
    required: isRequired,
    id: `field-${name}`,
    'aria-describedby': `about-${name}`,
  }
  return (
    <div>
      <label for={common.id}>
        <code>{name}</code> {!isRequired && <span class="mute">optional</span>}
      </label>
      {choices !== null ? (
        <select {...common} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
          <option value="">{isRequired ? 'Choose' : 'Left out'}</option>
          {choices.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      ) : type === 'json' ? (
        <textarea
          {...common}
          rows={4}
          spellcheck={false}
          placeholder={example}
          ref={(area: HTMLTextAreaElement | null) => area?.setCustomValidity(inexactWords(value))}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      ) : (
        <input
          {...common}
          spellcheck={false}
          autocomplete="off"
          placeholder={example}
          {...(pattern === null ? {} : { pattern })}
          {...(type === 'text' ? {} : { inputMode: 'numeric' as const })}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
      <span id={common['aria-describedby']} class="small mute">
        {description}
      </span>
    </div>
  )
}

function inexactWords(text: string): string {
  const number = inexactNumber(text)
  return number === null ? '' : `A browser would change the number ${number}. Put it in quotes.`
}
