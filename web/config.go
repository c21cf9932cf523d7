package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/web/edit"
)

// configuring is the part of the table by which administrators change the mesh file. Nobody else sees it: it may hold secrets,
// such as headers of remote write.
func (s *Server) configuring(a huma.API) {
	add(a, get("config", account.Admin, "/config", "The mesh file as it is on disk, and whether it is in force"), s.config)
	add(a, large(post("check-config", account.Admin, "/config/check",
		"What would be wrong with a mesh file, or come of it; nothing is changed")), s.checkConfig)
	add(a, large(operation(http.MethodPut, "save-config", account.Admin, "/config",
		"Replace the mesh file; the controller puts it in force within seconds")), s.saveConfig)
	add(a, get("config-history", account.Admin, "/config/history", "The versions of the mesh file that are kept, newest first"),
		s.configHistory)
	add(a, get("config-version", account.Admin, "/config/history/{id}", "A version of the mesh file, and what it changed"), s.configVersion)
}

const (
	// maxConfig is the largest proposal that is read: text of edit.MaxTotal, of which JSON escapes some.
	maxConfig = edit.MaxTotal + edit.MaxTotal/2
	// configTimeout is how long one may take to arrive: a megabyte over a bad line.
	configTimeout = 30 * time.Second
)

// large lets an operation take mesh files.
func large(o huma.Operation) huma.Operation {
	o.MaxBodyBytes, o.BodyReadTimeout = maxConfig, configTimeout
	o.Errors = append(o.Errors, http.StatusBadRequest, http.StatusConflict, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge,
		http.StatusUnsupportedMediaType)
	return o
}

var errNoConfig = errors.New("this controller does not have its mesh file edited here")

type configDoc struct {
	edit.Current
	Trouble string `json:"trouble,omitempty" doc:"Why what is on disk is not in force"`
}

func (s *Server) config(context.Context, *struct{}) (*body[configDoc], error) {
	if s.Config == nil {
		return nil, fault(errNoConfig)
	}
	now, err := s.Config.Read()
	if err != nil {
		return nil, fault(err)
	}
	doc := configDoc{Current: now}
	if trouble := s.Control.Trouble(); trouble != nil {
		doc.Trouble = s.Config.Plain(trouble.Error())
	}
	return &body[configDoc]{doc}, nil
}

type filesInput struct {
	Body struct {
		Files []edit.File `json:"files" maxItems:"64" doc:"All of them"`
	}
}

func (s *Server) checkConfig(ctx context.Context, in *filesInput) (*body[*edit.Outcome], error) {
	if s.Config == nil {
		return nil, fault(errNoConfig)
	}
	outcome, err := s.Config.Check(ctx, in.Body.Files, byToken(ctx))
	if err != nil {
		return nil, fault(err)
	}
	return &body[*edit.Outcome]{outcome}, nil
}

type saveConfigInput struct {
	Body struct {
		Version string      `json:"version" doc:"What they began from"`
		Files   []edit.File `json:"files" maxItems:"64" doc:"All of them: one that is missing is removed"`
		Comment string      `json:"comment,omitempty" maxLength:"500" doc:"Why, for those who look later"`
	}
}

type savedDoc struct {
	Saved edit.Version `json:"saved"`
}

// saveConfig notes who asks first, then replaces the files.
func (s *Server) saveConfig(ctx context.Context, in *saveConfigInput) (*body[savedDoc], error) {
	if s.Config == nil {
		return nil, fault(errNoConfig)
	}
	by := visitorOf(ctx).actor()
	var names []string
	for _, f := range in.Body.Files {
		names = append(names, f.Name)
	}
	if err := s.note(ctx, "save configuration", strings.Join(names, " ")); err != nil {
		return nil, fault(err)
	}
	change := edit.Change{From: in.Body.Version, Files: in.Body.Files, By: nameOf(by), Comment: strings.TrimSpace(in.Body.Comment),
		RefuseOutward: byToken(ctx)}
	saved, err := s.Config.Save(ctx, change)
	var wrong *edit.Wrong
	if errors.As(err, &wrong) {
		details := make([]error, len(wrong.Problems))
		for i, p := range wrong.Problems {
			details[i] = &huma.ErrorDetail{Message: p.String(), Location: "body.files"}
		}
		return nil, huma.Error422UnprocessableEntity(err.Error(), details...)
	}
	if err != nil {
		return nil, fault(err)
	}
	return &body[savedDoc]{savedDoc{saved}}, nil
}

// byToken says that who asks is a program, which may not change what leads out of the controller's machine.
func byToken(ctx context.Context) bool {
	kind := visitorOf(ctx).Kind
	return kind != account.KindAccount && kind != account.KindOwner
}

// nameOf is who somebody is for those who read the history. No account has a space in its name.
func nameOf(by account.Actor) string {
	switch by.Kind {
	case account.KindOwner:
		return "the controller's owner"
	case account.KindToken:
		return "token " + by.Name
	}
	return by.Name
}

type configHistoryDoc struct {
	Kept     int              `json:"kept" doc:"How many versions are kept; older ones are forgotten"`
	Versions []configEntryDoc `json:"versions"`
}

type configEntryDoc struct {
	edit.Version
	Current bool `json:"current" doc:"Whether it is what is on disk"`
}

func (s *Server) configHistory(context.Context, *struct{}) (*body[configHistoryDoc], error) {
	if s.Config == nil {
		return nil, fault(errNoConfig)
	}
	now, unread := s.Config.Read() // the history can be read all the same
	doc := configHistoryDoc{edit.MaxVersions, []configEntryDoc{}}
	for i, v := range s.Config.History() {
		doc.Versions = append(doc.Versions, configEntryDoc{v, i == 0 && unread == nil && v.Version == now.Version})
	}
	return &body[configHistoryDoc]{doc}, nil
}

type configVersionInput struct {
	ID string `path:"id" doc:"A ULID" example:"01KAG0000000000000000000AA"`
}

func (s *Server) configVersion(_ context.Context, in *configVersionInput) (*body[edit.Past], error) {
	if s.Config == nil {
		return nil, fault(errNoConfig)
	}
	past, err := s.Config.Version(in.ID)
	if err != nil {
		return nil, fault(err)
	}
	return &body[edit.Past]{past}, nil
}
