/** The bundler puts style sheets into a separate file. */
declare module '*.css'
