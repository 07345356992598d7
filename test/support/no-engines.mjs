import { register } from 'node:module'

/**
 * Loaded with `--import`, it makes the packages of engines appear not to be installed, as where
 * optional packages were left out.
 */
const hooks = `
  const ENGINES = ['pg', '@restatedev/']
  export async function resolve(specifier, context, next) {
    if (!ENGINES.some((name) => specifier === name || specifier.startsWith(name.endsWith('/') ? name : name + '/'))) {
      return next(specifier, context)
    }
    throw Object.assign(new Error('Cannot find package ' + specifier), { code: 'ERR_MODULE_NOT_FOUND' })
  }
`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
