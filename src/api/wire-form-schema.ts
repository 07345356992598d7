import { z } from 'zod'
import type { WireForm } from '../policy/wire-form.js'

/** Makes the schema of a form. Objects accept no other fields. */
export function schemaOf(form: WireForm): z.ZodType {
  const plain = plainSchemaOf(form)
  const { note, isOptional } = form
  if (note === undefined) return isOptional === true ? plain.optional() : plain
  // The order of keys in the document depends on which of the two schemas has the note.
  if (form.kind === 'text' || form.kind === 'number') {
    return isOptional === true ? plain.describe(note).optional() : plain.describe(note)
  }
  return (isOptional === true ? plain.optional() : plain).describe(note)
}

function plainSchemaOf(form: WireForm): z.ZodType {
  switch (form.kind) {
    case 'text':
      return z.string()
    case 'number':
      return z.number()
    case 'boolean':
      return z.boolean()
    case 'option':
      return z.enum(form.options)
    case 'list':
      return z.array(schemaOf(form.of))
    case 'fields':
      return z.strictObject(
        Object.fromEntries(
          Object.entries(form.fields).map(([name, field]) => [name, schemaOf(field)]),
        ),
      )
    case 'either':
      return z.union(form.of.map(schemaOf))
  }
}
