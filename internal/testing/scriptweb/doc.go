// Package scriptweb is a web for tests of what renders pages: its pages show nothing without JavaScript.
//
// It consumes the files of site/, of which each page is one behaviour, and answers on loopback from two origins, one of
// which is what attacks aim at; a server with a bad certificate and a UDP socket are targets too. It emits, with each
// page, what must be found on it and what must not happen (Pages), and a log of all that was asked (Web.Log).
//
// It guarantees that no text of Page.Text and no path of Page.Links is in what a client without JavaScript gets. What
// a page is found by is therefore written in two halves in its scripts ('item ' + 'seven').
//
// Beside the behaviours it has many pages of one kind, made by number, for measurements and for the choice between
// pages that need rendering and others: ShopPath and LightPath; and
// pages behind logins: MembersPath and ClubPath.
package scriptweb
