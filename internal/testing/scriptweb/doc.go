// Package scriptweb is a web for tests of renderers: its pages show nothing without JavaScript.
//
// It serves the files of site/, each page with one behaviour, on loopback from two origins. The
// second origin is the target of attacks; so are a server with a bad certificate and UDP sockets.
// Pages lists for each page what must be found on it and what must not happen. Web.Log has all
// requests.
//
// A client without JavaScript gets no text of Page.Text and no path of Page.Links. Therefore
// scripts write the texts that identify a page in two halves ('item ' + 'seven').
//
// It also has many generated pages of one kind, by number: ShopPath and LightPath, for measurements
// and for the decision which pages need rendering, and MembersPath and ClubPath, which are behind
// logins.
package scriptweb
